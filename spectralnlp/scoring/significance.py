"""Paired tests over the counts of each sentence: is one model better than another, or lucky?

The p-value is of paired approximate randomisation (Noreen 1989; as D. Bikel's comparator for
parsers does it): were the two systems equal, swapping their answers to a sentence would change
nothing. The interval is of the paired bootstrap (Efron and Tibshirani 1993; Koehn 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp import __version__
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.scoring.evalb import SentenceCounts

# Samples are drawn in blocks of about so many random numbers, 16 MB.
_CELLS = 2_000_000
# Differences closer than this, in percent, are equal.
_TIE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """The difference of two systems' scores over the same sentences.

    Args:
        score_a: score of the first system, in percent.
        score_b: score of the second, in percent.
        p_value: chance of a difference at least this large, either way, between equal systems;
            never under 1 / (samples + 1).
        interval: 95 % of resampled test sets have a difference within these two values.
        samples: resamples drawn for each of the two.
        random_state: the seed they were drawn from.
        metric: name of the score, ``f1`` or ``accuracy``.

    Examples:
        >>> from spectralnlp.scoring import score_trees
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> comparison = score_trees([gold] * 20, [gold] * 20).compare(score_trees([gold] * 20, [tree] * 20))
        >>> round(comparison.score_a - comparison.score_b, 2)
        20.0
    """

    score_a: float
    score_b: float
    p_value: float
    interval: tuple[float, float]
    samples: int
    random_state: int
    metric: str = "f1"

    __repr__ = one_line

    @property
    def delta(self) -> float:
        """Score of the first system less that of the second, in points of percent."""
        return self.score_a - self.score_b

    @property
    def signature(self) -> str:
        """How it was tested, ``PAIRED|p:randomisation|interval:bootstrap|n:10000|seed:0|v:0.1.0``."""
        draws = f"n:{self.samples}|seed:{self.random_state}"
        return f"PAIRED|p:randomisation|interval:bootstrap|{draws}|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | str]:
        """Return the difference by name, to be added to the first system's report."""
        low, high = self.interval
        return {
            f"{self.metric}_against": self.score_b,
            f"{self.metric}_delta": self.delta,
            f"{self.metric}_delta_low": low,
            f"{self.metric}_delta_high": high,
            "p_value": self.p_value,
            "comparison_signature": self.signature,
        }

    def __str__(self) -> str:
        low, high = self.interval
        name = self.metric.upper() if self.metric == "f1" else self.metric
        return (
            f"{name} {self.score_a:.2f} against {self.score_b:.2f}: {self.delta:+.2f}"
            f" (95% {low:+.2f} to {high:+.2f}), p = {self.p_value:.4f}\n{self.signature}"
        )


def compare(
    a_counts: Sequence[SentenceCounts],
    b_counts: Sequence[SentenceCounts],
    *,
    samples: int = 10_000,
    random_state: int = 0,
) -> Comparison:
    """Test whether two systems differ in F1 over the same gold sentences.

    Args:
        a_counts: the first system's counts, sentence by sentence.
        b_counts: the second system's counts of the same sentences.
        samples: resamples to draw; at least 1.
        random_state: seed; the same seed gives the same comparison.

    Raises:
        InputError: there are no sentences, or the two were not scored on the same ones.
        ConfigError: ``samples`` is less than 1.

    Examples:
        >>> from spectralnlp.scoring import compare, score_trees
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NNS Gulls) (VP (VBP fly)))"]
        >>> gold, tree = read_brackets(brackets)
        >>> a, b = score_trees([gold] * 20, [gold] * 20), score_trees([gold] * 20, [tree] * 20)
        >>> compare(a.counts, b.counts, samples=1000).p_value < 0.01
        True
    """
    if samples < 1:
        raise ConfigError(f"samples must be at least 1, not {samples}")
    if not a_counts or [c.length for c in a_counts] != [c.length for c in b_counts]:
        raise InputError(
            f"two systems compare only on the same sentences, found {len(a_counts)} and {len(b_counts)}",
            hint="score both against one gold file",
        )
    a, b = _f1_terms(a_counts), _f1_terms(b_counts)
    return compare_ratios(a, b, "f1", samples=samples, random_state=random_state)


def compare_ratios(
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    metric: str,
    *,
    samples: int = 10_000,
    random_state: int = 0,
) -> Comparison:
    """Test whether two systems differ in a score that is a ratio of sums over sentences.

    Args:
        a: float64 (n_sentences, 2); terms of the first system's numerator and denominator.
        b: float64 (n_sentences, 2); of the second system's.
        metric: name of the score.
        samples: see `compare`.
        random_state: see `compare`.
    """
    score_a, score_b = float(_ratio(a.sum(axis=0))), float(_ratio(b.sum(axis=0)))
    randomise, resample = np.random.default_rng(random_state).spawn(2)
    swapped = _randomised_deltas(a, b, samples, randomise)
    n_extreme = int(np.sum(np.abs(swapped) >= abs(score_a - score_b) - _TIE))
    low, high = np.percentile(_bootstrapped_deltas(a, b, samples, resample), [2.5, 97.5])
    return Comparison(
        score_a=score_a,
        score_b=score_b,
        p_value=(n_extreme + 1) / (samples + 1),
        interval=(float(low), float(high)),
        samples=samples,
        random_state=random_state,
        metric=metric,
    )


def _f1_terms(counts: Sequence[SentenceCounts]) -> NDArray[np.float64]:
    """Return (sentences, 2): twice the matched brackets, and gold and test brackets; F1 is their ratio."""
    return np.array([(2 * c.matched, c.gold + c.test) for c in counts], dtype=np.float64)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100.0 * sums[..., 0] / np.maximum(sums[..., 1], 1.0)  # of nothing: 0.0


def _randomised_deltas(
    a: NDArray[np.float64], b: NDArray[np.float64], samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return (samples,): differences after the systems trade answers to a random half of the sentences."""
    deltas = []
    for size in _blocks(samples, len(a)):
        traded = rng.integers(0, 2, size=(size, len(a)), dtype=np.int8) @ (b - a)
        deltas.append(_ratio(a.sum(axis=0) + traded) - _ratio(b.sum(axis=0) - traded))
    return np.concatenate(deltas)


def _bootstrapped_deltas(
    a: NDArray[np.float64], b: NDArray[np.float64], samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return (samples,): differences on test sets of equal size, drawn with replacement."""
    n_sentences, deltas = len(a), []
    for size in _blocks(samples, n_sentences):
        drawn = rng.integers(0, n_sentences, size=(size, n_sentences))
        drawn += n_sentences * np.arange(size)[:, None]  # each sample counts in a row of its own
        times = np.bincount(drawn.ravel(), minlength=size * n_sentences).reshape(size, n_sentences)
        deltas.append(_ratio(times @ a) - _ratio(times @ b))
    return np.concatenate(deltas)


def _blocks(samples: int, n_sentences: int) -> list[int]:
    """Return the sizes of the blocks that samples are drawn in, so that memory does not grow with them."""
    size = max(1, _CELLS // n_sentences)
    return [min(size, samples - done) for done in range(0, samples, size)]
