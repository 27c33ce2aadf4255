"""What names of labels say: ``card_arrival`` is about a card, as ``card_linking`` is."""

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
    """Labels as a text would have them: ``card_arrival`` and ``CardArrival`` are ``card arrival``."""
    return [" ".join(_BETWEEN_WORDS.sub(" ", str(label)).split()).lower() for label in labels]


def likeness_of(names: Sequence[str], form: NgramFormat) -> Array32:
    """How alike names of labels are: 1 and, of two labels, the cosine of their names' tf-idf n-grams.

    Args:
        names: as of `label_texts`.
        form: how they are cut into n-grams. idf is that of the names.

    Returns:
        float32 (n_labels, n_labels); 2 on the diagonal, 1 where a name has no n-grams; positive definite.
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
