"""Use label names such as ``card_arrival`` as training texts, and to measure the similarity of labels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams, scale_kinds

Array32 = NDArray[np.float32]
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


def label_texts(labels: Sequence[Any]) -> list[str]:
    """Return the names of labels as texts: ``card_arrival`` and ``CardArrival`` become ``card arrival``."""
    return [" ".join(_BETWEEN_WORDS.sub(" ", str(label)).split()).lower() for label in labels]


def label_similarity_of(names: Sequence[str], form: NgramFormat) -> Array32:
    """Return the similarity of labels: the identity plus cosines of their names' tf-idf n-grams.

    Args:
        names: names of labels from `label_texts`; the idf is computed from them too.
        form: format of n-grams.

    Returns:
        Positive definite similarities, float32 (n_labels, n_labels); the diagonal is 2, or 1 for a name
        without n-grams.
    """
    counts = count_ngrams(names, replace(form, pairs=0))
    columns, places = np.unique(counts.indices, return_inverse=True)
    idf = np.log((1.0 + len(names)) / (1.0 + np.bincount(places))) + 1.0
    data = (1.0 + np.log(counts.data)) * idf[places]
    rows = sp.csr_array((data, places, counts.indptr), shape=(len(names), len(columns)))
    scale_kinds(rows, int(np.searchsorted(columns, form.first_character_column)))
    products = np.asarray((rows @ rows.T).todense())
    lengths = np.sqrt(np.maximum(np.diagonal(products), 1e-9))
    cosines = products / lengths[:, None] / lengths
    return np.asarray(np.eye(len(names)) + cosines, np.float32)
