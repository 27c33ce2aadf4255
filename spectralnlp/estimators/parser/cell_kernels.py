"""Kernels that learn which cells of a chart open: AdaGrad on the likelihood of binary bracketings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.bracketing import cell_of, span_marginals
from spectralnlp.inference.trees.cells import all_span_cells
from spectralnlp.inference.trees.span_features import (
    BEGIN,
    END,
    N_PLACE,
    N_SPAN,
    Cues,
    place_features,
    place_scores,
    span_features,
    span_scores,
)
from spectralnlp.jit import kernel
from spectralnlp.parameters import Ints, Offsets

_RATE = 0.05  # of AdaGrad (Duchi, Hazan and Singer 2011)
_FIRST_SQUARE = 0.1  # what its sums of squares begin with
_NEGLIGIBLE = 1e-2  # gradients that are not worth an update


class Sentences(NamedTuple):
    """Cues of sentences laid end to end, and the spans of their trees.

    Attributes:
        cues: Cues of all tokens; ``marks`` has one number more for each sentence.
        tokens: int64 (n_sentences + 1,); tokens of sentence s are ``tokens[s]:tokens[s + 1]``.
        spans: int64 (n_sentences + 1,); the same for the next two.
        start, end: int32 (n_spans,); tokens of the sentence, of all binarisations.
        share: 1 / number of binarisations.
    """

    cues: Cues
    tokens: Offsets
    spans: Offsets
    start: Ints
    end: Ints
    share: float


class Learner(NamedTuple):
    """Weights as they are learned.

    Attributes:
        weights: float32 (n_weights,).
        history: float32 (n_weights, 2); sums of squared gradients, AdaGrad's, and of updates times the step
            at which they were made. Both are needed together, and lie together.
    """

    weights: NDArray[np.float32]
    history: NDArray[np.float32]

    @classmethod
    def blank(cls, n_weights: int) -> Learner:
        """Weights of zero; sums of squares begin with a tenth."""
        history = np.zeros((n_weights, 2), np.float32)
        history[:, 0] = _FIRST_SQUARE
        return cls(np.zeros(n_weights, np.float32), history)

    def mean(self, steps: int) -> NDArray[np.float32]:
        """The mean of the weights after each of so many steps, float32 (n_weights,)."""
        return self.weights - self.history[:, 1] / np.float32(steps + 1)


@kernel
def _cues_of_sentence(sentences, s):
    cues, first, last = sentences.cues, sentences.tokens[s], sentences.tokens[s + 1]
    return Cues(
        cues.word[first:last],
        cues.tag[first:last],
        cues.second[first:last],
        cues.shape[first:last],
        cues.marks[first + s : last + s + 1],
    )


@kernel
def _marginals(sentences, s, weights):
    """The marginals of all spans of a sentence, narrow ones first, and its cues."""
    cues = _cues_of_sentence(sentences, s)
    cells = all_span_cells(len(cues.word), len(cues.word))
    scores = span_scores(weights, cues, place_scores(weights, cues), cells.start, cells.end)
    return cells, span_marginals(scores, len(cues.word)), cues


@kernel
def learn(sentences, order, step, learner):
    """Go through sentences once, and add to the learner's weights the gradient of each.

    Args:
        sentences: Sentences.
        order: int64; numbers of sentences.
        step: how many sentences were gone through before.
        learner: Learner; written.
    """
    weights = learner.weights
    mask = np.uint32(len(weights) - 1)
    codes = np.empty(max(N_PLACE, N_SPAN), np.uint32)
    for s in order:
        step += 1
        cells, marginals, cues = _marginals(sentences, s, weights)
        n, gradient = len(cues.word), -marginals
        for span in range(sentences.spans[s], sentences.spans[s + 1]):
            gradient[cell_of(n, sentences.start[span], sentences.end[span])] += sentences.share
        places = np.zeros((2, n + 1))
        for cell in range(n, len(gradient) - 1):
            places[BEGIN, cells.start[cell]] += gradient[cell]
            places[END, cells.end[cell]] += gradient[cell]
            if abs(gradient[cell]) >= _NEGLIGIBLE:
                span_features(cues, cells.start[cell], cells.end[cell], codes)
                update_weights(learner, codes[:N_SPAN] & mask, gradient[cell], step)
        for place in range(n + 1):
            for side in range(2):
                if abs(places[side, place]) >= _NEGLIGIBLE:
                    place_features(cues, place, side, codes)
                    update_weights(learner, codes[:N_PLACE] & mask, places[side, place], step)


@kernel
def update_weights(learner, features, gradient, step):
    """Add a gradient to the weights of some features.

    Args:
        learner: Learner; written.
        features: uint32; numbers of weights.
        gradient: of the log-likelihood, by the sum of their weights.
        step: how many examples were gone through before.
    """
    square, gain = np.float32(gradient * gradient), np.float32(_RATE * gradient)
    when = np.float32(step)
    for feature in features:
        past = learner.history[feature]
        past[0] += square
        change = gain / np.sqrt(past[0])
        learner.weights[feature] += change
        past[1] += when * change


@kernel
def marginals_of_spans(sentences, chosen, weights):
    """The marginal of each true span of some sentences, float64.

    Args:
        sentences: Sentences.
        chosen: int64; numbers of sentences.
        weights: float32 (n_weights,).
    """
    size = 0
    for s in chosen:
        size += sentences.spans[s + 1] - sentences.spans[s]
    found, count = np.empty(size), 0
    for s in chosen:
        _, marginals, cues = _marginals(sentences, s, weights)
        for span in range(sentences.spans[s], sentences.spans[s + 1]):
            found[count] = marginals[cell_of(len(cues.word), sentences.start[span], sentences.end[span])]
            count += 1
    return found
