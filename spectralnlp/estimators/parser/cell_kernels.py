"""Kernels that train the open-cell model, which predicts where a parse chart may hold constituents.

The model is trained by AdaGrad on the likelihood of binary bracketings.
"""

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
    TokenAttributes,
    place_features,
    place_scores,
    span_features,
    span_scores,
)
from spectralnlp.jit import kernel
from spectralnlp.parameters import Ints, Offsets

_RATE = 0.05  # learning rate of AdaGrad (Duchi, Hazan and Singer 2011)
_FIRST_SQUARE = 0.1  # initial value of AdaGrad's sums of squared gradients
_NEGLIGIBLE = 1e-2  # smaller gradients are ignored


class Sentences(NamedTuple):
    """Token features of sentences, concatenated, and the spans of their trees in all binarisations.

    Attributes:
        attributes: features of all tokens, concatenated. Only the array ``marks``, which counts punctuation,
            has n + 1 elements for a sentence of n tokens.
        tokens: int64 (n_sentences + 1,); sentence s has the tokens ``tokens[s]:tokens[s + 1]``.
        spans: int64 (n_sentences + 1,); sentence s has the spans ``spans[s]:spans[s + 1]``.
        start, end: int32 (n_spans,); boundaries of each span, as token positions in its sentence.
        share: weight of a span, 1 / number of binarisations.
    """

    attributes: TokenAttributes
    tokens: Offsets
    spans: Offsets
    start: Ints
    end: Ints
    share: float


class Learner(NamedTuple):
    """State of training by AdaGrad with averaging: the weights, and sums over past gradients.

    Attributes:
        weights: float32 (n_weights,); present weights.
        history: float32 (n_weights, 2); sums of squared gradients, for AdaGrad, and sums of updates times
            their step number, for the average.
    """

    weights: NDArray[np.float32]
    history: NDArray[np.float32]

    @classmethod
    def blank(cls, n_weights: int) -> Learner:
        """Return weights of zero, with the initial sums of squared gradients."""
        history = np.zeros((n_weights, 2), np.float32)
        history[:, 0] = _FIRST_SQUARE
        return cls(np.zeros(n_weights, np.float32), history)

    def mean(self, steps: int) -> NDArray[np.float32]:
        """Return the average of the weights over the given number of steps, float32 (n_weights,)."""
        return self.weights - self.history[:, 1] / np.float32(steps + 1)


@kernel
def _attributes_of(sentences, s):
    attributes, first, last = sentences.attributes, sentences.tokens[s], sentences.tokens[s + 1]
    return TokenAttributes(
        attributes.word[first:last],
        attributes.tag[first:last],
        attributes.second[first:last],
        attributes.shape[first:last],
        attributes.marks[first + s : last + s + 1],
    )


@kernel
def _marginals(sentences, s, weights):
    """Return the chart cells of a sentence, by width, their probabilities, and the features of its tokens.

    The model defines the probability of every binary bracketing of the sentence. The probability of a cell is
    the sum over all bracketings that contain the cell's span.

    Args:
        sentences: `Sentences`.
        s: index of the sentence.
        weights: float32 (n_weights,); weights of the model.
    """
    attributes = _attributes_of(sentences, s)
    cells = all_span_cells(len(attributes.word), len(attributes.word))
    scores = span_scores(weights, attributes, place_scores(weights, attributes), cells.start, cells.end)
    return cells, span_marginals(scores, len(attributes.word)), attributes


@kernel
def learn(sentences, order, step, learner):
    """Train for one epoch: take a gradient step for each sentence.

    Args:
        sentences: `Sentences`.
        order: int64; indices of the sentences, in order.
        step: number of sentences processed before.
        learner: `Learner`; updated.
    """
    weights = learner.weights
    mask = np.uint32(len(weights) - 1)
    codes = np.empty(max(N_PLACE, N_SPAN), np.uint32)
    for s in order:
        step += 1
        cells, marginals, attributes = _marginals(sentences, s, weights)
        n, gradient = len(attributes.word), -marginals
        for span in range(sentences.spans[s], sentences.spans[s + 1]):
            gradient[cell_of(n, sentences.start[span], sentences.end[span])] += sentences.share
        places = np.zeros((2, n + 1))
        for cell in range(n, len(gradient) - 1):
            places[BEGIN, cells.start[cell]] += gradient[cell]
            places[END, cells.end[cell]] += gradient[cell]
            if abs(gradient[cell]) >= _NEGLIGIBLE:
                span_features(attributes, cells.start[cell], cells.end[cell], codes)
                update_weights(learner, codes[:N_SPAN] & mask, gradient[cell], step)
        for place in range(n + 1):
            for side in range(2):
                if abs(places[side, place]) >= _NEGLIGIBLE:
                    place_features(attributes, place, side, codes)
                    update_weights(learner, codes[:N_PLACE] & mask, places[side, place], step)


@kernel
def update_weights(learner, features, gradient, step):
    """Take an AdaGrad step in the weights of some features, all of which have the same gradient.

    Args:
        learner: `Learner`; updated.
        features: uint32; indices of the weights.
        gradient: derivative of the log likelihood with respect to each weight.
        step: number of the step.
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
    """Compute the marginal probabilities of the gold spans of some sentences, concatenated, float64.

    Args:
        sentences: `Sentences`.
        chosen: int64; indices of the sentences.
        weights: float32 (n_weights,); weights of the model.
    """
    size = 0
    for s in chosen:
        size += sentences.spans[s + 1] - sentences.spans[s]
    of_gold, count = np.empty(size), 0
    for s in chosen:
        _, marginals, attributes = _marginals(sentences, s, weights)
        for span in range(sentences.spans[s], sentences.spans[s + 1]):
            of_gold[count] = marginals[
                cell_of(len(attributes.word), sentences.start[span], sentences.end[span])
            ]
            count += 1
    return of_gold
