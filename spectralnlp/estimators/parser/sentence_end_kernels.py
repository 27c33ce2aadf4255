"""A kernel that trains the model of sentence ends, by AdaGrad on the likelihood of an end at each blank."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.parser.cell_kernels import update_weights
from spectralnlp.inference.sentences.features import (
    N_FEATURES,
    OUTSIDE,
    TextTokens,
    begin,
    code_of_last,
    extend,
    gap_score,
)
from spectralnlp.jit import kernel

_NEGLIGIBLE = 1e-3  # smaller gradients are ignored


class GoldText(NamedTuple):
    """A text with known sentence ends.

    Attributes:
        tokens: the tokens of the text, encoded as numbers.
        begins: int64 (n_tokens,); 1 for the first token of each sentence except the first sentence, else 0.
    """

    tokens: TextTokens
    begins: NDArray[np.int64]


@kernel
def learn(text, edges, step, learner):
    """Train on a text: take a gradient step at each gap between tokens that has a blank.

    Args:
        text: `GoldText`.
        edges: int64, ascending; token positions at which the text is cut into parts, including 0 and the
            number of tokens.
        step: number of gaps processed before this call, in all texts.
        learner: `Learner`; the weights and sums of gradients, which are updated.

    Returns:
        ``step`` plus the number of gaps processed in this text.
    """
    tokens, codes = text.tokens, np.empty(N_FEATURES, np.uint32)
    mask = np.uint32(len(learner.weights) - 1)
    for part in range(len(edges) - 1):
        first, last = edges[part], edges[part + 1]
        prefix = extend(begin(first, OUTSIDE), tokens.case[first], tokens.kind[first])
        for gap in range(first + 1, last):
            if tokens.free[gap] == 1:
                step += 1
                score = gap_score(tokens, prefix, gap, last, learner.weights, codes)
                gradient = text.begins[gap] - 1.0 / (1.0 + np.exp(-score))
                if abs(gradient) >= _NEGLIGIBLE:
                    update_weights(learner, codes & mask, gradient, step)
            if text.begins[gap] == 1:
                prefix = begin(gap, code_of_last(tokens.name[gap - 1], tokens.case[gap - 1]))
            prefix = extend(prefix, tokens.case[gap], tokens.kind[gap])
    return step
