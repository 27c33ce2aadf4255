"""The averaged structured perceptron (Collins 2002), over sparse features and dense vectors at once."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.tagger.kernels import (
    Array32,
    ChainScores,
    Examples,
    ScoreWeights,
    perceptron_epoch,
    score_sentence,
    zero_weights,
)
from spectralnlp.parameters import Offsets


@dataclass
class Perceptron:
    """Weights under training, and for each the sum of its changes times the time they were made.

    Args:
        n_features: features that can be seen.
        n_tags: tags.
        word_width: length of the vectors of words.
        token_width: length of the vectors of contexts.

    Attributes:
        time: sentences seen.
        weights: float32.
        changes: float64.
    """

    n_features: int
    n_tags: int
    word_width: int
    token_width: int
    time: int = 0
    weights: ScoreWeights = field(init=False)
    changes: ScoreWeights = field(init=False)

    def __post_init__(self) -> None:
        widths = (self.n_features, self.n_tags, self.word_width, self.token_width)
        self.weights, self.changes = zero_weights(*widths, np.float32), zero_weights(*widths, np.float64)

    def epoch(self, examples: Examples, order: NDArray[np.int64], forbidden: ChainScores) -> int:
        """Learn from sentences, one after the other.

        Args:
            examples: sentences.
            order: int64; those to learn from.
            forbidden: 0 where a tag may stand, else -inf.

        Returns:
            The number of wrong tags.
        """
        if len(order) == 0:
            return 0
        longest = int(np.diff(examples.starts).max())
        emissions = np.zeros((longest, self.n_tags), np.float32)
        self.time, wrong = perceptron_epoch(
            order, examples, self.weights, self.changes, forbidden, emissions, self.time
        )
        return int(wrong)

    def average(self) -> ScoreWeights:
        """Return the mean of the weights at the start and after each sentence, float32."""
        time = self.time + 1
        means = (w - change / time for w, change in zip(self.weights, self.changes, strict=True))
        return ScoreWeights(*(mean.astype(np.float32) for mean in means))


def emissions_of(
    examples: Examples, order: NDArray[np.int64], weights: ScoreWeights
) -> tuple[Array32, Offsets]:
    """Score the tags of some sentences.

    Args:
        examples: sentences.
        order: int64; those to score, one after the other.
        weights: float32.

    Returns:
        float32 (n_tokens, n_tags), and int64 (n_sentences + 1,), where each sentence begins.
    """
    lengths = np.diff(examples.starts)[order]
    starts = np.append(0, np.cumsum(lengths))
    emissions = np.zeros((int(starts[-1]), weights.features.shape[1]), np.float32)
    none_dropped = np.zeros(len(examples.types), bool)
    for i, s in enumerate(order):
        score_sentence(s, examples, weights, none_dropped, emissions[starts[i] : starts[i + 1]])
    return emissions, starts
