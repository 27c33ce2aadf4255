"""Features of words in slots, laid out for kernels: those that name a word come first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def naming_first(
    rows_by_slot: Sequence[NDArray[np.int32]], names: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return features of words in slots as `Examples` has them: row_starts, rows and named.

    Args:
        rows_by_slot: for each slot int32 (n_types, n); features of each word, -1 for none.
        names: bool (n_features,); whether a feature names a word.
    """
    places = np.concatenate([np.nonzero(each >= 0)[0] for each in rows_by_slot])
    slots = np.repeat(np.arange(len(rows_by_slot)), [(each >= 0).sum() for each in rows_by_slot])
    places = places + slots * len(rows_by_slot[0])
    rows = np.concatenate([each[each >= 0] for each in rows_by_slot])
    is_name = names[rows]
    n_places = len(rows_by_slot) * len(rows_by_slot[0])
    row_starts = np.append(0, np.cumsum(np.bincount(places, minlength=n_places))).astype(np.int64)
    named = row_starts[:-1] + np.bincount(places[is_name], minlength=n_places)
    return row_starts, rows[np.lexsort((~is_name, places))], named


def in_one_word(rows_by_slot: Sequence[NDArray[np.int32]], n_features: int) -> NDArray[np.bool_]:
    """Return bool (n_features,): which features no second word has.

    Args:
        rows_by_slot: as for `naming_first`.
        n_features: how many there are.
    """
    n_words = np.zeros(n_features, np.int64)  # with each feature
    for each in rows_by_slot:
        n_words += np.bincount(each[each >= 0], minlength=n_features)
    return n_words == 1
