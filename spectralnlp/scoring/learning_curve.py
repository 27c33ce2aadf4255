"""Learning curves: F1 by number of training trees, fitted and extrapolated with confidence intervals.

The curve is F1(n) = a - b n^-c: the distance to a ceiling a follows a power law. A few training sizes do not
determine a and c, so we average over curves instead of choosing one (Bayesian model averaging, Hoeting et al.
1999). Curves are weighted by their likelihood and by a prior on the ceiling, which, unlike c, is similar for
all treebanks. Real scores also deviate from such curves, more so the further we extrapolate. To compute
confidence intervals, we draw thousands of random curves. Each draw resamples the held-out sentences, the
exponent, the ends of the curve and the deviation from it; an interval contains 95 % of the draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.scoring.evalb import SentenceCounts

Floats = NDArray[np.float64]

_DRAWS = 4000
_CELLS = 2_000_000  # number of random numbers in a block
# Grid of exponents c; mean and standard deviation of the normal prior of the ceiling a.
_RATES = np.linspace(0.02, 1.2, 60)
_USUAL_CEILING, _CEILING_SPREAD = 92.0, 3.0
# Prior standard deviation of F1 between training runs, and its weight as a number of runs.
_USUAL_NOISE, _NOISE_WEIGHT = 0.3, 4.0
# Standard deviation of F1 from the curve, per doubling of the largest training size.
_DEPARTURE = 0.3


@dataclass(frozen=True)
class CurveRun:
    """Score of one training run.

    Attributes:
        n_trees: number of training trees.
        counts: EVALB counts of each held-out sentence.
        held_out: id of the set of held-out sentences; runs with the same id were scored on the same ones.

    Examples:
        >>> from spectralnlp.scoring import CurveRun, score_trees
        >>> from spectralnlp.trees import read_brackets
        >>> gold, tree = read_brackets(["(S (NP (N a)) (VP (V b)))", "(S (NP (N a)) (V b))"])
        >>> CurveRun(100, score_trees([gold], [tree]).counts).f1
        80.0
    """

    n_trees: int
    counts: Sequence[SentenceCounts]
    held_out: int = 0

    __repr__ = one_line

    @property
    def terms(self) -> Floats:
        """Numerator and denominator of F1 by sentence, float64 (n_sentences, 2).

        The numerator is twice the number of matched brackets; the denominator, gold plus predicted brackets.
        """
        return np.array([(2 * c.matched, c.gold + c.test) for c in self.counts], np.float64)

    @property
    def f1(self) -> float:
        """F1 of the run, in percent."""
        return float(_f1(self.terms.sum(axis=0)))


@dataclass(frozen=True)
class CurvePoint:
    """F1 that a learning curve predicts for a number of training trees.

    Attributes:
        n_trees: number of training trees.
        f1: predicted F1 in percent, the mean over random curves drawn from the posterior.
        interval: lower and upper bound of F1 that contain 95% of these curves.
        gain, gain_interval: mean and bounds of the difference between this F1 and F1 at the current number of
            trees.
        observed: mean F1 of the runs with this number of trees, or None without such runs.

    Examples:
        >>> from spectralnlp.scoring import CurvePoint
        >>> CurvePoint(2000, 85.0, (84.5, 85.5), 0.9, (0.6, 1.2)).observed is None
        True
    """

    n_trees: int
    f1: float
    interval: tuple[float, float]
    gain: float
    gain_interval: tuple[float, float]
    observed: float | None = None

    __repr__ = one_line


def fit_curve(
    runs: Sequence[CurveRun], targets: Sequence[int], *, n_now: int | None = None, random_state: int = 0
) -> list[CurvePoint]:
    """Fit a learning curve, and evaluate it at the sizes of the runs and at other sizes.

    Args:
        runs: training runs of three or more sizes. If runs use different held-out sets, there should be runs
            of all sizes for each set.
        targets: numbers of trees to extrapolate to.
        n_now: current number of trees. Gains are differences from F1 at this number; by default it is that of
            the largest run.
        random_state: seed of the draws.

    Returns:
        One point for each size of the runs, each target and ``n_now``, by ascending size.

    Raises:
        ConfigError: the runs have fewer than three different sizes.

    Examples:
        >>> from spectralnlp.scoring import CurveRun, SentenceCounts, fit_curve
        >>> def run(n_trees, matched):
        ...     counts = SentenceCounts(length=20, matched=matched, gold=100, test=100)
        ...     return CurveRun(n_trees, [counts] * 20)
        ...
        >>> points = fit_curve([run(500, 70), run(1000, 75), run(2000, 79)], [4000])
        >>> [point.n_trees for point in points], 81 < points[-1].f1 < 83
        ([500, 1000, 2000, 4000], True)
    """
    trees = np.array([run.n_trees for run in runs], np.float64)
    sizes = np.unique(trees)
    if len(sizes) < 3:
        raise ConfigError(
            f"a learning curve needs runs of three sizes, not {len(sizes)}", hint="train on more parts"
        )
    now = float(n_now or sizes[-1])
    wanted = np.unique([*sizes, *targets, now])
    rng = np.random.default_rng(random_state)
    scores = _resampled(runs, rng)
    observed = np.array([run.f1 for run in runs])
    levels = _levels(trees, observed, np.array([run.held_out for run in runs]))
    fit = _Fit.of(trees, observed - levels)
    curves = fit.draws(scores - levels, np.append(wanted, now), rng)
    gains = curves[:, :-1] - curves[:, -1:]
    means = {n: float(np.mean([run.f1 for run in runs if run.n_trees == n])) for n in sizes.tolist()}
    return [
        CurvePoint(
            n_trees=int(n),
            f1=float(curves[:, at].mean()),
            interval=_interval(curves[:, at]),
            gain=float(gains[:, at].mean()),
            gain_interval=_interval(gains[:, at]),
            observed=means.get(n),
        )
        for at, n in enumerate(wanted.tolist())
    ]


@dataclass(frozen=True)
class _Fit:
    """Posterior distribution of the learning curve, given the scores of training runs.

    Each curve is described by its exponent c ("rate"), which comes from a grid, and by its F1 at the largest
    and at the smallest training size.

    Attributes:
        solvers: float64 (n_rates, 2, n_runs); for each rate, the least-squares matrix that maps the scores of
            the runs to F1 of the curve at the largest and the smallest size.
        spreads: float64 (n_rates, 2, 2); Cholesky factors of the covariance of these two F1 values.
        probability: float64 (n_rates,); posterior probability of each rate.
        sizes: smallest and largest number of training trees.
    """

    solvers: Floats
    spreads: Floats
    probability: Floats
    sizes: tuple[float, float]

    @classmethod
    def of(cls, trees: Floats, scores: Floats) -> _Fit:
        """Fit a curve by least squares for each of many exponents c, and weight the exponents by likelihood.

        Args:
            trees: float64 (n_runs,); number of training trees of each run.
            scores: float64 (n_runs,); F1 of each run.
        """
        sizes = (float(trees.min()), float(trees.max()))
        noise = _noise(trees, scores)
        solvers, spreads, logs = [], [], []
        for rate in _RATES.tolist():
            shape = _shape(trees, rate, sizes)
            design = np.stack([1 - shape, shape], axis=1)
            information = design.T @ design
            solver = np.linalg.solve(information, design.T)
            errors = scores - design @ (solver @ scores)
            _, logdet = np.linalg.slogdet(information)
            logs.append(-0.5 * (errors @ errors) / noise**2 - 0.5 * logdet)
            solvers.append(solver)
            spreads.append(np.linalg.cholesky(np.linalg.inv(information)) * noise)
        weight = np.exp(np.array(logs) - max(logs))
        return cls(np.array(solvers), np.array(spreads), weight / weight.sum(), sizes)

    def draws(self, scores: Floats, wanted: Floats, rng: np.random.Generator) -> Floats:
        """Draw curves from the posterior.

        Args:
            scores: float64 (n_draws, n_runs); F1 of each run on resampled sentences.
            wanted: float64 (n_wanted,); numbers of trees to evaluate the curves at.
            rng: random generator.

        Returns:
            F1 of each curve, float64 (n_draws, n_wanted).
        """
        n_draws = len(scores)
        chosen = rng.choice(len(_RATES), n_draws, p=self.probability)
        ends = np.einsum("dij,dj->di", self.solvers[chosen], scores)
        ends += np.einsum("dij,dj->di", self.spreads[chosen], rng.standard_normal((n_draws, 2)))
        places = np.append(wanted, np.inf)
        shape = np.stack([_shape(places, rate, self.sizes) for rate in _RATES.tolist()])[chosen]
        curves = ends[:, :1] * (1 - shape) + ends[:, 1:] * shape
        curves = curves[_by_ceiling(curves[:, -1], ends[:, 0] - ends[:, 1], rng), :-1]
        doublings = np.maximum(np.log2(wanted / self.sizes[1]), 0.0)
        # Each draw deviates by one random number at all sizes, because deviations are correlated.
        curves += _DEPARTURE * doublings * rng.standard_normal((n_draws, 1))
        return np.minimum(curves, 100.0)


def _shape(trees: Floats, rate: float, sizes: tuple[float, float]) -> Floats:
    """Return a learning curve's distance below its F1 at the largest size, scaled to 1 at the smallest size.

    Args:
        trees: float64 (n,); numbers of training trees at which to evaluate the curve.
        rate: exponent c of the curve.
        sizes: smallest and largest number of training trees.

    Returns:
        The scaled distances, float64 (n,): 0 at the largest size, negative beyond.
    """
    smallest, largest = sizes[0] ** -rate, sizes[1] ** -rate
    shape: Floats = (trees**-rate - largest) / (smallest - largest)
    return shape


def _by_ceiling(ceilings: Floats, rise: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Resample random curves, with weights from the prior on the ceiling, and return their indices.

    Curves that do not rise are excluded, unless no curve rises.

    Args:
        ceilings: float64 (n_draws,); F1 of each curve in the limit of infinitely many trees.
        rise: float64 (n_draws,); F1 of each curve at the largest minus that at the smallest size.
        rng: random generator.

    Returns:
        Indices of the resampled curves, int64 (n_draws,).
    """
    log = -0.5 * ((ceilings - _USUAL_CEILING) / _CEILING_SPREAD) ** 2
    log = np.where(rise > 0, log, -np.inf if (rise > 0).any() else 0.0)
    weight = np.exp(log - log.max())
    return rng.choice(len(log), len(log), p=weight / weight.sum())


def _levels(trees: Floats, scores: Floats, held_out: NDArray[np.int64]) -> Floats:
    """Estimate how much easier each run's held-out set is than the mean of all sets, in F1.

    Sets are compared on runs of the training sizes that occur with every set. If there is no such size, all
    runs are used.

    Args:
        trees: float64 (n_runs,); number of training trees of each run.
        scores: float64 (n_runs,); F1 of each run.
        held_out: int64 (n_runs,); id of each run's held-out set.

    Returns:
        The difference in F1 for each run, float64 (n_runs,).
    """
    sets = np.unique(held_out)
    shared = set.intersection(*({*trees[held_out == each].tolist()} for each in sets))
    usable = np.isin(trees, sorted(shared)) if shared else np.ones(len(trees), bool)
    means = {int(each): scores[usable & (held_out == each)].mean() for each in sets}
    whole = float(np.mean(list(means.values())))
    return np.array([means[int(each)] - whole for each in held_out], np.float64)


def _noise(trees: Floats, scores: Floats) -> float:
    """Estimate the standard deviation of F1 between runs of the same size.

    The observed variance is averaged with a prior variance, because there are few runs of each size.
    """
    squares, freedom = 0.0, 0
    for n in np.unique(trees):
        here = scores[trees == n]
        squares += float(((here - here.mean()) ** 2).sum())
        freedom += len(here) - 1
    return float(np.sqrt((squares + _NOISE_WEIGHT * _USUAL_NOISE**2) / (freedom + _NOISE_WEIGHT)))


def _resampled(runs: Sequence[CurveRun], rng: np.random.Generator) -> Floats:
    """Compute F1 of each run on bootstrap samples of its held-out sentences, float64 (n_draws, n_runs).

    Runs with the same held-out set share the samples.
    """
    scores = np.empty((_DRAWS, len(runs)))
    for each in sorted({run.held_out for run in runs}):
        here = [at for at, run in enumerate(runs) if run.held_out == each]
        terms = np.stack([runs[at].terms for at in here], axis=1)  # sentences, runs, 2
        n = len(terms)
        block = max(1, _CELLS // n)
        for first in range(0, _DRAWS, block):
            size = min(block, _DRAWS - first)
            times = rng.multinomial(n, np.full(n, 1.0 / n), size).astype(np.float64)
            sums = (times @ terms.reshape(n, -1)).reshape(size, len(here), 2)
            scores[first : first + size, here] = _f1(sums)
    return scores


def _f1(sums: Floats) -> Floats:
    return 100.0 * sums[..., 0] / np.maximum(sums[..., 1], 1.0)


def _interval(values: Floats) -> tuple[float, float]:
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)
