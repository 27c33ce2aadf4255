"""Training of a conditional random field (Lafferty, McCallum and Pereira 2001) by stochastic gradients."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.tagger.field_kernels import FIRST_SUM, likelihood_epoch
from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights, zero_weights
from spectralnlp.jit import padded

# Initial learning rate; 0.3 with larger initial sums was no better (benchmarks/experiments/taggers.md).
_RATE = 0.1
# Share of words dropped in each epoch; the differences to 0.1 and 0.33 are not significant.
_DROPOUT = 0.2


@dataclass
class RandomField:
    """Conditional random field under training, by AdaGrad (Duchi, Hazan and Singer 2011).

    The learning rate decays linearly to zero. Words are dropped at random: features that identify a dropped
    word are left out, so that the model also learns to tag by spelling, word vectors and context, as it must
    for unknown words.

    Args:
        n_features: number of features.
        n_tags: number of tags.
        word_width: length of word vectors.
        epochs: number of epochs of the whole training.
        rng: random generator for word dropout.

    Attributes:
        done: number of epochs so far.
        weights: weights of the model.
        sums: sum of squared gradients of each weight.
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
        """Train on sentences, one after the other.

        Args:
            examples: encoded sentences.
            order: int64; indices of the sentences to train on, in order.
            forbidden: 0 for allowed tags and transitions, -inf for forbidden ones.
        """
        rate = np.float32(_RATE * max(0.0, 1 - self.done / self.epochs))
        dropped = self.rng.random(len(examples.types)) < _DROPOUT
        dropped[examples.types < 2] = False  # padding words are never dropped
        longest = int(np.diff(examples.starts).max(initial=1))
        emissions = np.zeros((longest, padded(self.n_tags)), np.float32)
        likelihood_epoch(order, examples, self.weights, self.sums, forbidden, dropped, rate, emissions)
        self.done += 1
