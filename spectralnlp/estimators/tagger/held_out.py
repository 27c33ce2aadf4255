"""Tune two parameters of taggers on held-out sentences: a temperature, and a bias towards spans."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from spectralnlp.estimators.tagger.kernels import ChainScores, Examples, ScoreWeights, emissions_of
from spectralnlp.inference.chains.linear_chains import best_tags, tag_marginals
from spectralnlp.text.spans import spans_of

# Search interval of the natural logarithm of the temperature.
_LOG_TEMPERATURES = (-2.0, 7.0)
# Candidate biases, by which scores of the tag O are lowered.
_BIASES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)


def fit_temperature(
    examples: Examples,
    held_out: NDArray[np.int64],
    weights: ScoreWeights,
    forbidden: ChainScores,
) -> float:
    """Return the temperature that maximises the product of the gold tags' marginals on held-out sentences.

    Scores are divided by the temperature, so that marginals are calibrated.

    Args:
        examples: encoded sentences.
        held_out: int64; indices of the held-out sentences.
        weights: weights of the model.
        forbidden: 0 for allowed tags and transitions, -inf for forbidden ones.
    """
    emissions, starts = emissions_of(examples, held_out, weights)
    chain = chain_of(weights, forbidden)
    gold = _gold(examples, held_out)

    def surprise(log_temperature: float) -> float:
        cold = np.float32(np.exp(-log_temperature))
        p, _ = tag_marginals(emissions * cold, starts, *(each * cold for each in chain))
        return -float(np.log(np.maximum(p[np.arange(len(gold)), gold], 1e-12)).sum())

    best = minimize_scalar(surprise, bounds=_LOG_TEMPERATURES, method="bounded", options={"xatol": 0.05})
    return float(np.exp(best.x))


def choose_bias(
    examples: Examples,
    held_out: NDArray[np.int64],
    weights: ScoreWeights,
    forbidden: ChainScores,
    names: Sequence[str],
) -> float:
    """Return the bias towards spans with the best F1 on held-out sentences; the smallest one in a tie.

    The bias is subtracted from the scores of the tag O (outside spans). Without it, a span with a probability
    below one half is rarely predicted, although predicting some such spans increases F1.

    Args:
        examples, held_out, weights, forbidden: see `fit_temperature`.
        names: names of the tags; one is O.
    """
    emissions, starts = emissions_of(examples, held_out, weights)
    bounds = list(pairwise(starts.tolist()))

    def spans(tags: NDArray[np.int32]) -> set[tuple[int, int, int, str]]:
        named = [names[tag] for tag in tags]
        return {(s, *span) for s, (first, last) in enumerate(bounds) for span in spans_of(named[first:last])}

    gold, best, most = spans(_gold(examples, held_out)), 0.0, 0.0
    for bias in _BIASES:
        chain = lower_outside(chain_of(weights, forbidden), names, bias)
        predicted = spans(best_tags(emissions, starts, *chain))
        f1 = 2 * len(gold & predicted) / max(1, len(gold) + len(predicted))
        if f1 > most:
            best, most = bias, f1
    return best


def lower_outside(chain: ChainScores, names: Sequence[str], bias: float) -> ChainScores:
    """Lower the score of the tag O at every token, by lowering transitions to it and its start score.

    Args:
        chain: scores of transitions, first and last tags.
        names: names of the tags; one is O.
        bias: number to subtract.
    """
    outside = np.array([name == "O" for name in names]) * np.float32(bias)
    return ChainScores(chain.transitions - outside, chain.start - outside, chain.end)


def chain_of(weights: ScoreWeights, forbidden: ChainScores) -> ChainScores:
    """Return the learned scores of transitions, first and last tags, with -inf for forbidden ones."""
    learned = (weights.transitions, weights.start, weights.end)
    return ChainScores(*(w + no for w, no in zip(learned, forbidden, strict=True)))


def _gold(examples: Examples, sentences: NDArray[np.int64]) -> NDArray[np.int32]:
    bounds = zip(examples.starts[sentences], examples.starts[sentences + 1], strict=True)
    return np.concatenate([examples.tags[first:last] for first, last in bounds])
