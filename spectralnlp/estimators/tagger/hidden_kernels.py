"""Kernels of hidden units under training: rows of features added up, and steps down the gradient."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.feature_kernels import FIRST, INNER, N_OFFSETS
from spectralnlp.jit import fast_kernel
from spectralnlp.parameters import Ints, Offsets

_REACH = N_OFFSETS // 2


class Rows(NamedTuple):
    """Features of words in the places around a token.

    Attributes:
        row_starts: int64 (n_slots · n_types + 1,); of the features of each word in each slot, slot by slot.
        rows: int32; those features; of each word in each slot those that name it come first.
        named: int64 (n_slots · n_types,); where those end.
        n_types: words.
    """

    row_starts: Offsets
    rows: Ints
    named: Offsets
    n_types: int


class Batch(NamedTuple):
    """Tokens to learn from at once.

    Attributes:
        types: int32; words of all sentences, two places before and after each.
        places: int64 (n,); where the tokens are.
        first: bool (n,); whether they begin a sentence.
        dropped: bool (n, n_offsets); words around them that are not to be known by name.
    """

    types: Ints
    places: NDArray[np.int64]
    first: NDArray[np.bool_]
    dropped: NDArray[np.bool_]


@fast_kernel
def add_features(batch: Any, seen: Any, features: Any, units: Any) -> None:
    """Add the rows of what is seen around tokens.

    Args:
        batch: `Batch`.
        seen: `Rows`.
        features: float32 (n_features, h).
        units: float32 (n, h), added to.
    """
    n_hidden = units.shape[1]
    for i in range(len(units)):
        into = units[i]
        for slot in range(N_OFFSETS + 1):
            offset = slot - _REACH if slot < N_OFFSETS else 0
            word = batch.types[batch.places[i] + offset]
            place = (slot if slot < N_OFFSETS else FIRST if batch.first[i] else INNER) * seen.n_types + word
            begin = seen.named[place] if batch.dropped[i, offset + _REACH] else seen.row_starts[place]
            for r in range(begin, seen.row_starts[place + 1]):
                row = features[seen.rows[r]]
                for j in range(n_hidden):
                    into[j] += row[j]


@fast_kernel
def descend_features(batch: Any, seen: Any, features: Any, sums: Any, gradients: Any, rate: Any) -> None:
    """Take a step of AdaGrad, one rate a row, token by token.

    Args:
        batch, seen, features: as for `add_features`; features are changed.
        sums: float32 (n_features,); of mean squares of gradients, changed.
        gradients: float32 (n, h); of the units.
        rate: float32.
    """
    n_hidden = gradients.shape[1]
    for i in range(len(gradients)):
        gradient = gradients[i]
        square = np.float32(0.0)
        for j in range(n_hidden):
            square += gradient[j] * gradient[j]
        if square == 0:
            continue
        square /= n_hidden
        for slot in range(N_OFFSETS + 1):
            offset = slot - _REACH if slot < N_OFFSETS else 0
            word = batch.types[batch.places[i] + offset]
            place = (slot if slot < N_OFFSETS else FIRST if batch.first[i] else INNER) * seen.n_types + word
            begin = seen.named[place] if batch.dropped[i, offset + _REACH] else seen.row_starts[place]
            for r in range(begin, seen.row_starts[place + 1]):
                number = seen.rows[r]
                sums[number] += square
                step = rate / np.sqrt(sums[number])
                row = features[number]
                for j in range(n_hidden):
                    row[j] -= step * gradient[j]
