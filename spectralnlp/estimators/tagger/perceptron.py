"""The averaged structured perceptron (Collins 2002), over sparse features and dense vectors at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.tagger.kernels import perceptron_epoch, score_sentence
from spectralnlp.inference.chains.templates import OFFSETS

Array32 = NDArray[np.float32]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]
Chain = tuple[Array32, Array32, Array32]
"""Something for each transition (from, to), for the first tag and for the last."""


@dataclass(frozen=True)
class Examples:
    """Tagged sentences as numbers.

    Attributes:
        types: int32 (n_tokens + 4 · n_sentences,); words, two places around each sentence.
        starts: int64 (n_sentences + 1,).
        tags: int32 (n_tokens,).
        row_starts: int64 (n_slots · n_types + 1,); of the features of each word in each slot, slot by slot.
        rows: int32; those features.
        pairs: int32 (n_tokens, n_pairs); features of pairs of words, -1 for none.
        words: float32 (n_types, k).
        tokens: float32 (n_tokens, l).
    """

    types: Ints
    starts: Offsets
    tags: Ints
    row_starts: Offsets
    rows: Ints
    pairs: Ints
    words: Array32
    tokens: Array32


@dataclass
class Perceptron:
    """Weights under training, and for each the sum of its changes times the time they were made.

    Args:
        n_features, n_tags, word_width, token_width: sizes.

    Attributes:
        features, words, tokens, transitions, start, end: as in ``ChainWeights``.
        time: sentences seen.
    """

    n_features: int
    n_tags: int
    word_width: int
    token_width: int
    time: int = 0
    weights: list[Array32] = field(init=False)
    changes: list[NDArray[np.float64]] = field(init=False)

    def __post_init__(self) -> None:
        T, n_offsets = self.n_tags, len(OFFSETS)
        shapes = (
            (self.n_features, T), (n_offsets, self.word_width, T), (self.token_width, T), (T, T), (T,), (T,)
        )  # fmt: skip
        self.weights = [np.zeros(shape, np.float32) for shape in shapes]
        self.changes = [np.zeros(shape) for shape in shapes]

    def epoch(self, examples: Examples, order: NDArray[np.int64], forbidden: Chain) -> int:
        """Learn from sentences, one after the other.

        Args:
            examples: sentences.
            order: int64; those to learn from.
            forbidden: what is added to transitions, start and end: 0 or -inf.

        Returns:
            The number of wrong tags.
        """
        e = examples
        if len(order) == 0:
            return 0
        longest = int(np.diff(e.starts).max())
        emissions = np.zeros((longest, self.n_tags), np.float32)
        self.time, wrong = perceptron_epoch(
            order, e.types, e.starts, e.tags, e.row_starts, e.rows, e.pairs, e.words, e.tokens,
            *self.weights, *self.changes, *forbidden, emissions, self.time,
        )  # fmt: skip
        return int(wrong)

    def average(self) -> list[Array32]:
        """The mean of the weights at the start and after each sentence."""
        time = self.time + 1
        return [
            (w - change / time).astype(np.float32)
            for w, change in zip(self.weights, self.changes, strict=True)
        ]


def emissions_of(
    examples: Examples, order: NDArray[np.int64], weights: list[Array32]
) -> tuple[Array32, Offsets]:
    """Scores of tags, float32 (n_tokens, n_tags), of some sentences one after the other; and their starts."""
    e = examples
    starts = np.zeros(len(order) + 1, np.int64)
    np.cumsum((e.starts[1:] - e.starts[:-1])[order], out=starts[1:])
    emissions = np.zeros((int(starts[-1]), weights[0].shape[1]), np.float32)
    for i, s in enumerate(order):
        score_sentence(s, e.types, e.starts, e.row_starts, e.rows, e.pairs, e.words, e.tokens, *weights[:3],
               emissions[starts[i] : starts[i + 1]])  # fmt: skip
    return emissions, starts
