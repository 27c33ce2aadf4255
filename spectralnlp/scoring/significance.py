"""Paired significance tests over the counts of each sentence.

The p-value is computed by paired approximate randomisation (Noreen 1989; as in D. Bikel's comparator for
parsers): if two systems are equally good, swapping their outputs for a sentence makes no systematic
difference. The confidence interval is that of the paired bootstrap (Efron and Tibshirani 1993; Koehn 2004).
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

# Number of random numbers in a block of samples, 16 MB.
_CELLS = 2_000_000
# Differences that are closer to each other than this, in percent, count as equal.
_TIE = 1e-9


@dataclass(frozen=True)
class Comparison:
    """Difference between the scores of two systems on the same sentences, with its significance.

    Args:
        score_a: score of the first system, in percent.
        score_b: score of the second system, in percent.
        p_value: two-sided p-value: probability of a difference at least this large between equally good
            systems; at least 1 / (samples + 1).
        interval: 95% bootstrap confidence interval of the difference.
        samples: number of samples drawn for the p-value, and again for the interval.
        random_state: seed of the samples.
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
        """Score of the first system minus that of the second, in percentage points."""
        return self.score_a - self.score_b

    @property
    def signature(self) -> str:
        """A string that names the tests and their settings.

        An example is ``PAIRED|p:randomisation|interval:bootstrap|n:10000|seed:0|v:0.1.0``.
        """
        draws = f"n:{self.samples}|seed:{self.random_state}"
        return f"PAIRED|p:randomisation|interval:bootstrap|{draws}|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | str]:
        """Return the second system's score, the difference, its interval and its p-value, by name."""
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
    """Test whether the F1 scores of two systems on the same gold sentences differ significantly.

    Args:
        a_counts: counts of each sentence for the first system.
        b_counts: counts of the same sentences for the second system.
        samples: number of samples to draw; at least 1.
        random_state: seed of the samples.

    Raises:
        InputError: there are no sentences, or the two systems were not scored on the same ones.
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
            f"systems can only be compared on the same sentences, found {len(a_counts)} and {len(b_counts)}",
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
    """Test whether two systems differ significantly in a score that is a ratio of sums over sentences.

    Args:
        a: float64 (n_sentences, 2); what each sentence adds to the numerator and the denominator of the
            first system's score.
        b: float64 (n_sentences, 2); the same for the second system.
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
    """Return the numerator and denominator of F1 for each sentence, float64 (n_sentences, 2).

    The numerator is twice the number of matched brackets; the denominator, gold plus predicted brackets.
    """
    return np.array([(2 * c.matched, c.gold + c.test) for c in counts], dtype=np.float64)


def _ratio(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    return 100.0 * sums[..., 0] / np.maximum(sums[..., 1], 1.0)  # 0.0 if the denominator is 0


def _randomised_deltas(
    a: NDArray[np.float64], b: NDArray[np.float64], samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return score differences after swapping the systems' outputs for random sentences, float64 (samples,).

    Each sentence is swapped with probability one half.
    """
    deltas = []
    for size in _blocks(samples, len(a)):
        traded = rng.integers(0, 2, size=(size, len(a)), dtype=np.int8) @ (b - a)
        deltas.append(_ratio(a.sum(axis=0) + traded) - _ratio(b.sum(axis=0) - traded))
    return np.concatenate(deltas)


def _bootstrapped_deltas(
    a: NDArray[np.float64], b: NDArray[np.float64], samples: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return score differences on test sets drawn with replacement, float64 (samples,)."""
    n_sentences, deltas = len(a), []
    for size in _blocks(samples, n_sentences):
        drawn = rng.integers(0, n_sentences, size=(size, n_sentences))
        drawn += n_sentences * np.arange(size)[:, None]  # each sample is counted in its own row
        times = np.bincount(drawn.ravel(), minlength=size * n_sentences).reshape(size, n_sentences)
        deltas.append(_ratio(times @ a) - _ratio(times @ b))
    return np.concatenate(deltas)


def _blocks(samples: int, n_sentences: int) -> list[int]:
    """Return sizes of blocks of samples, so small that the random numbers of one block fit in memory.

    Args:
        samples: number of samples; the sum of the sizes.
        n_sentences: number of sentences, for each of which a sample has a random number.
    """
    size = max(1, _CELLS // n_sentences)
    return [min(size, samples - done) for done in range(0, samples, size)]
