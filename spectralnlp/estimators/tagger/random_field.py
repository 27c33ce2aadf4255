"""A conditional random field (Lafferty, McCallum and Pereira 2001) by stochastic gradients."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.tagger.field_kernels import FIRST_SUM, likelihood_epoch
from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights, zero_weights
from spectralnlp.jit import padded

# Length of the first steps: 0.3 and larger first sums were no better (benchmarks/experiments/taggers.md).
_RATE = 0.1
# Share of words that are forgotten in each epoch: a tenth and a third differ from it by chance.
_DROPOUT = 0.2


@dataclass
class RandomField:
    """Weights under training, by AdaGrad (Duchi, Hazan and Singer 2011) with steps that shrink to nothing.

    Words are forgotten at random: the features that name a word, which no other word of the training data
    has, and the features of several words that name it are left out. So spelling, vectors and neighbours are
    learned to be enough, as they must be for unknown words.

    Args:
        n_features: features that can be seen.
        n_tags: tags.
        word_width: length of the vectors of words.
        epochs: that there will be.
        rng: chooses the words that are forgotten.

    Attributes:
        done: epochs that there have been.
        weights: float32.
        sums: float32; of squares of gradients.
    """

    n_features: int
    n_tags: int
    word_width: int
    epochs: int
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    done: int = 0
    weights: ScoreWeights = field(init=False)
    sums: ScoreWeights = field(init=False)

    def __post_init__(self) -> None:
        self.weights = zero_weights(self.n_features, self.n_tags, self.word_width)
        self.sums = ScoreWeights(*(each + np.float32(FIRST_SUM) for each in self.weights))

    def epoch(self, examples: Examples, order: NDArray[np.int64], forbidden: ChainScores) -> None:
        """Learn from sentences, one after the other.

        Args:
            examples: sentences.
            order: int64; those to learn from.
            forbidden: 0 where a tag may stand, else -inf.
        """
        rate = np.float32(_RATE * max(0.0, 1 - self.done / self.epochs))
        dropped = self.rng.random(len(examples.types)) < _DROPOUT
        dropped[examples.types < 2] = False  # the edges of sentences
        longest = int(np.diff(examples.starts).max(initial=1))
        emissions = np.zeros((longest, padded(self.n_tags)), np.float32)
        likelihood_epoch(order, examples, self.weights, self.sums, forbidden, dropped, rate, emissions)
        self.done += 1
