"""Arrange the features of words in the arrays that kernels read.

Features that identify a word come first, so that word dropout can skip them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import offsets_of


def naming_first(
    rows_by_slot: Sequence[NDArray[np.int32]], names: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return the features of each word type in CSR format, features that identify the word first.

    The three arrays are ``row_starts``, ``rows`` and ``named`` of `Examples`.

    Args:
        rows_by_slot: for each slot (position relative to a token), int32 (n_types, n); features of each word
            type there, -1 for none.
        names: bool (n_features,); whether a feature identifies a word.
    """
    places = np.concatenate([np.nonzero(each >= 0)[0] for each in rows_by_slot])
    slots = np.repeat(np.arange(len(rows_by_slot)), [(each >= 0).sum() for each in rows_by_slot])
    places = places + slots * len(rows_by_slot[0])
    rows = np.concatenate([each[each >= 0] for each in rows_by_slot])
    is_name = names[rows]
    n_places = len(rows_by_slot) * len(rows_by_slot[0])
    row_starts = offsets_of(np.bincount(places, minlength=n_places))
    named = row_starts[:-1] + np.bincount(places[is_name], minlength=n_places)
    return row_starts, rows[np.lexsort((~is_name, places))], named


def in_one_word(rows_by_slot: Sequence[NDArray[np.int32]], n_features: int) -> NDArray[np.bool_]:
    """Return which features occur with a single word type, bool (n_features,).

    Args:
        rows_by_slot: see `naming_first`.
        n_features: number of features.
    """
    n_words = np.zeros(n_features, np.int64)  # number of word types with each feature
    for each in rows_by_slot:
        n_words += np.bincount(each[each >= 0], minlength=n_features)
    return n_words == 1
