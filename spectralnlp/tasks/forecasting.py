"""Forecast how the F1 of a parser would grow with more training trees, by extrapolating its learning curve.

Parsers are trained on subsets of a treebank of growing size. As more trees usually come in new documents,
subsets grow by whole documents (or by blocks of neighbouring trees in long documents), not by single trees,
which would resemble the held-out trees too much. Rounds of subsets are trained as long as time allows, each
with its own random order and, unless held-out trees are given, its own held-out fold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from time import perf_counter
from typing import Any, cast

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator
from spectralnlp.estimators.parser.trainer import ParserTrainer
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.scoring import CurvePoint, CurveRun, ParseReport, fit_curve
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree

# Sizes of the parts as shares of the trees, each √2 times the last; parts below _FEWEST trees are skipped
_PARTS = tuple(2.0**-power for power in (3.0, 2.5, 2.0, 1.5, 1.0, 0.5, 0.0))
# if enough sizes remain.
_FEWEST = 300
_MIN_SIZES = 3
_BLOCK = 50  # trees of one document that stay together
_FOLDS = 5
_MAX_ROUNDS = 5


@dataclass(frozen=True)
class Forecast:
    """Learning curve of a parser, F1 by number of training trees, measured and extrapolated.

    Attributes:
        n_trees: number of trees in the treebank.
        points: points of the curve at the measured sizes and the target sizes, ascending.
        runs: the training runs.
        check: test of the method: F1 at the largest trained size, as observed and as forecast from runs of at
            most half that size; None if those runs have fewer than three sizes.
        seconds: time that training and scoring took.

    Examples:
        >>> from spectralnlp import PCFG, read_treebank
        >>> from spectralnlp.tasks.forecasting import forecast
        >>> trees = read_treebank("corpora/treebank/train.mrg")
        >>> found = forecast(PCFG(), trees, [400], rounds=1)
        >>> found.n_trees, [point.n_trees for point in found.points][-1]
        (171, 400)
    """

    n_trees: int
    points: Sequence[CurvePoint]
    runs: Sequence[CurveRun]
    check: CurvePoint | None
    seconds: float

    __repr__ = one_line

    @property
    def now(self) -> CurvePoint:
        """The point of the curve at the number of trees that the treebank has."""
        return next(point for point in self.points if point.n_trees == self.n_trees)

    def to_table(self) -> str:
        """Return a text table of F1 by number of training trees, and a line about each target size."""
        lines = [f"{'trees':>9}{'runs':>6}{'observed':>10}{'curve':>8}   95 %"]
        for point in self.points:
            n_runs = sum(run.n_trees == point.n_trees for run in self.runs)
            observed = "–" if point.observed is None else f"{point.observed:.2f}"
            low, high = point.interval
            lines.append(
                f"{point.n_trees:>9,}{n_runs:>6}{observed:>10}{point.f1:>8.2f}   {low:.2f} to {high:.2f}"
            )
        if self.check is not None and self.check.observed is not None:
            low, high = self.check.interval
            lines.append(
                f"check: forecast from half of the trees {self.check.f1:.2f} ({low:.2f} to {high:.2f}) "
                f"at {self.check.n_trees:,} trees; observed: {self.check.observed:.2f}"
            )
        lines += [self._sentence(point) for point in self.points if point.n_trees > self.n_trees]
        return "\n".join(lines)

    def _sentence(self, point: CurvePoint) -> str:
        low, high = point.gain_interval
        return (
            f"{point.n_trees - self.n_trees:,} more sentences: {self.now.f1:.1f} to {point.f1:.1f} "
            f"({point.gain:+.1f}, 95 % {low:+.1f} to {high:+.1f})"
        )

    def to_json(self) -> dict[str, Any]:
        """Return all fields as JSON values; scores are in percent."""
        return {
            "n_trees": self.n_trees,
            "points": [_values(point) for point in self.points],
            "runs": [{"n_trees": run.n_trees, "f1": run.f1, "held_out": run.held_out} for run in self.runs],
            "check": None if self.check is None else _values(self.check),
            "seconds": round(self.seconds, 1),
        }


def _values(point: CurvePoint) -> dict[str, Any]:
    (low, high), (least, most) = point.interval, point.gain_interval
    return {
        "n_trees": point.n_trees,
        "f1": point.f1,
        "f1_low": low,
        "f1_high": high,
        "gain": point.gain,
        "gain_low": least,
        "gain_high": most,
        "observed": point.observed,
    }


def forecast(
    estimator: Estimator[Tree],
    corpus: Corpus[Tree],
    targets: Sequence[int] = (),
    *,
    held_out: Corpus[Tree] | None = None,
    seconds: float = float("inf"),
    rounds: int = _MAX_ROUNDS,
    random_state: int = 0,
    report: Callable[[str], None] = lambda line: None,
) -> Forecast:
    """Train a parser on growing parts of a treebank, and extrapolate its learning curve.

    Args:
        estimator: an unfitted parser estimator.
        corpus: the treebank.
        targets: total numbers of trees for which to forecast F1; by default 1,000 more than the treebank has,
            and twice as many.
        held_out: trees to score on; None to hold out a fifth of the treebank in each round.
        seconds: time limit. A training run starts only if, at the speed of the last run, it would end in
            time; three sizes are always trained.
        rounds: maximum number of training runs of each size, each on another random part of the treebank.
        random_state: seed for drawing the parts.
        report: called with a line for each run.

    Raises:
        ConfigError: the estimator is not a parser, or a target is not above the present number of trees.
        InputError: there are too few trees.
    """
    if estimator.task != "parsing":
        raise ConfigError(f"forecasts are made for the task parsing, not {estimator.task}")
    blocks = _blocks(corpus)
    gold = None if held_out is None else list(held_out)
    folds = 1 if gold is not None else _FOLDS
    n_trees = sum(map(len, blocks))
    fewest = max(_FEWEST, estimator.least_trees() if isinstance(estimator, ParserTrainer) else 0)
    sizes = _sizes(n_trees if gold is not None else n_trees - -(-n_trees // folds), fewest)
    if len(sizes) < _MIN_SIZES or (gold is not None and not gold) or len(blocks) < folds:
        raise InputError(f"{n_trees} trees are too few for a learning curve", hint="give a hundred or more")
    targets = sorted(targets or (n_trees + 1000, 2 * n_trees))
    if targets[0] <= n_trees:
        raise ConfigError(
            f"{targets[0]:,} trees are no more than there are, {n_trees:,}", hint="ask for a larger number"
        )
    started = perf_counter()
    runs: list[CurveRun] = []
    pace = 0.0  # seconds per tree in the last run
    for number, size in product(range(rounds), sizes):
        tried = {run.n_trees for run in runs}
        late = perf_counter() - started + pace * size > seconds
        if late and (size in tried or len(tried) >= _MIN_SIZES):
            break
        train, scored = _parts(blocks, gold, number, random_state)
        begun = perf_counter()
        runs.append(_run(estimator, train[:size], scored, number % folds, number))
        pace = (perf_counter() - begun) / size
        report(f"{size:,} trees, round {number + 1}: F1 {runs[-1].f1:.2f}, {pace * size:.1f} s")
    return Forecast(
        n_trees=n_trees,
        points=fit_curve(runs, targets, n_now=n_trees, random_state=random_state),
        runs=runs,
        check=_check(runs, random_state),
        seconds=perf_counter() - started,
    )


def _blocks(corpus: Corpus[Tree]) -> list[list[Tree]]:
    """Split a corpus into blocks of neighbouring trees of one document.

    Whole blocks are held out: neighbouring trees are similar, so one of them must not train a parser that is
    scored on the other.
    """
    blocks = []
    for partition in corpus.partitions():
        trees = list(partition)
        blocks += [trees[first : first + _BLOCK] for first in range(0, len(trees), _BLOCK)]
    n_trees = sum(map(len, blocks))
    if len(blocks) < _BLOCK:  # a small treebank of one file: smaller blocks
        size = max(n_trees // _BLOCK, 1)
        blocks = [block[at : at + size] for block in blocks for at in range(0, len(block), size)]
    return blocks


def _sizes(n_trees: int, fewest: int) -> list[int]:
    """Return the sizes of the treebank's parts to train on, ascending.

    Args:
        n_trees: number of training trees; sizes are fixed shares of it, at most the whole.
        fewest: minimum size. If this leaves fewer than three sizes, the five largest sizes are returned,
            even those below the minimum.
    """
    sizes = sorted({round(part * n_trees) for part in _PARTS} - {0})
    large = [size for size in sizes if size >= fewest]
    return large if len(large) >= _MIN_SIZES else sizes[-5:]


def _parts(
    blocks: Sequence[Sequence[Tree]], gold: list[Tree] | None, number: int, random_state: int
) -> tuple[list[Tree], list[Tree]]:
    """Return the training trees of one round in random order, and the held-out trees.

    To train on n trees, the caller takes the first n of these training trees.

    Args:
        blocks: trees of the treebank, in blocks that stay together.
        gold: held-out trees; None to hold out a fifth of the blocks.
        number: index of the round, which is part of the seed.
        random_state: seed of the order.
    """
    rng = np.random.default_rng([random_state, number])
    if gold is not None:
        return [tree for block in rng.permutation(len(blocks)).tolist() for tree in blocks[block]], gold
    # All rounds have the same folds.
    order = np.random.default_rng(random_state).permutation(len(blocks))
    is_held_out = np.zeros(len(blocks), bool)
    is_held_out[order[number % _FOLDS :: _FOLDS]] = True
    train_blocks = rng.permutation(np.flatnonzero(~is_held_out)).tolist()
    train = [tree for block in train_blocks for tree in blocks[block]]
    return train, [tree for block in np.flatnonzero(is_held_out).tolist() for tree in blocks[block]]


def _run(estimator: Estimator[Tree], trees: list[Tree], gold: list[Tree], fold: int, number: int) -> CurveRun:
    task = ParsingTask()
    params = estimator.get_params()
    if "random_state" in params:
        estimator = replace(estimator, **{"random_state": params["random_state"] + number})
    parser = task.train(estimator, InMemoryCorpus(trees))
    scored = cast(ParseReport, task.evaluate(parser, InMemoryCorpus(gold)))
    return CurveRun(len(trees), scored.counts, fold)


def _check(runs: Sequence[CurveRun], random_state: int) -> CurvePoint | None:
    """Return F1 at the largest trained size, as observed and as forecast from runs of at most half that size.

    Returns None if those runs have fewer than three sizes.
    """
    largest = max(run.n_trees for run in runs)
    smaller = [run for run in runs if run.n_trees <= 0.51 * largest]
    if len({run.n_trees for run in smaller}) < _MIN_SIZES:
        return None
    *_, point = fit_curve(smaller, [largest], random_state=random_state)
    sets = {run.held_out for run in smaller}
    observed = [run.f1 for run in runs if run.n_trees == largest and run.held_out in sets]
    return replace(point, observed=float(np.mean(observed)))
