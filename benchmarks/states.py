"""Compare spectral learning of grammars with EM, by number of states: F1 and running times.

Spectral learning uses tensors alone, with the settings of ``preset=tutorial`` and with the default ones. Its
times are CPU seconds with default settings, without grammars for pruning only. EM is Matsuzaki's, on the same
binarised trees, with as many states per symbol, from random parameters; for ``--em-states`` it runs until dev
F1 stops rising, for other numbers of states one iteration is timed.

    python -m benchmarks.states
    python -m benchmarks.states --states 8,16 --em-states 8,16 --em-iterations 100
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from time import process_time

from benchmarks.parsing import Setting
from spectralnlp.estimators.lpcfg import LPCFG
from spectralnlp.estimators.lpcfg.moments import CountedTable, binariser_of, nodes_of
from spectralnlp.estimators.lpcfg.solve import rule_tensors, token_vectors
from spectralnlp.estimators.lpcfg.states import StateCounts, TreeEventIndex, state_grammar
from spectralnlp.estimators.shared.event_index import SOFT_SMOOTHING
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions, find_directions, project_nodes
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import LatentGrammar
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Tree
from spectralnlp.trees.features import node_features
from spectralnlp.trees.treelog import TreeLog, TreeTable

STATES = (8, 16, 24, 32)
EM_STATES = (8, 16)
#: m: F1 of EM and of the spectral algorithm on section 22, as published.
PUBLISHED = {8: (86.87, 85.60), 16: (88.32, 87.77), 24: (88.35, 88.53), 32: (88.56, 88.82)}
# Times of training in the tutorial, on forty thousand trees: the columns of our table of seconds.
PUBLISHED_TIMES = {
    8: ("6m", "3h", "3h32m", "36m", "1h34m", "10m"),
    16: ("52m", "26h6m", "5h19m", "34m", "3h13m", "19m"),
    24: ("3h7m", "93h36m", "7h15m", "36m", "4h54m", "28m"),
    32: ("9h21m", "187h12m", "9h52m", "35m", "7h16m", "41m"),
}
NOISE = 0.5  # noise of random starts
SCHEME = "english"  # scheme of signatures and head rules
PATIENCE = 2  # evaluations on dev without improvement after which EM stops


# ---------------------------------------------------------------------------------------------------------
# Spectral


class Clock:
    """Stopwatch that adds up CPU seconds by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        started = process_time()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + process_time() - started


def spectral_seconds(estimator: LPCFG, corpus: Corpus[Tree]) -> dict[str, float]:
    """Return seconds of each part of fitting tensors: trees, features, SVD, a → bc and a → x."""
    clock, options = Clock(), ProjectionOptions.of(estimator, min_rank=0)
    scheme = signature_by_name(SCHEME)
    with one_blas_thread():
        with clock("trees"):
            table = table_of(estimator, corpus)
        with clock("features"):
            features = node_features(table, estimator.features, scheme)
        with clock("SVD"):
            nodes = nodes_of(table)
            projections = project_nodes(nodes, find_directions(nodes, features, options), options)
        with clock("a → bc"):
            rule_tensors(table, projections, SmoothingOptions.of(estimator))
        with clock("a → x"):
            counted = CountedTable.of(table, LexiconOptions.of(estimator, scheme=SCHEME))
            counted.lexicons.make(projections.n_states, token_vectors(counted, projections.outside))
    return clock.seconds


def table_of(estimator: LPCFG, corpus: Corpus[Tree]) -> TreeTable:
    """Return a treebank as a table of nodes, binarised as by the estimator."""
    binariser = binariser_of("head", unaries=estimator.unaries, heads=SCHEME)
    return Treebank.of([accumulate(TreeLog(binariser.to_dict()), corpus)]).first


# ---------------------------------------------------------------------------------------------------------
# EM


@dataclass(frozen=True)
class EMRun:
    """Result of a run of EM.

    Args:
        iteration_seconds: mean seconds per iteration.
        f1: best dev F1; None if not measured.
        iterations: number of iterations until the best dev F1.
    """

    iteration_seconds: float
    f1: float | None = None
    iterations: int = 0


class EM:
    """Training of a latent-state grammar by EM on one treebank.

    Args:
        train: training trees.
        dev: trees for early stopping.
        every: number of iterations between evaluations on dev.
        most: maximum number of iterations.
    """

    def __init__(self, train: Corpus[Tree], dev: Corpus[Tree], every: int, most: int) -> None:
        self.dev, self.every, self.most = dev, every, most
        self.estimator = LPCFG(n_states=1, pruner_states=0)  # a plain PCFG, which makes forests
        self.parser: Parser = ParsingTask().train(self.estimator, train)
        lexicon = LexiconOptions.of(self.estimator, scheme=SCHEME)
        self.index = TreeEventIndex.of(CountedTable.of(table_of(self.estimator, train), lexicon))
        self.index.expected_counts(self._start(1, 0))  # loads the kernel

    def run(self, m: int, seed: int, *, to_the_end: bool) -> EMRun:
        """Train by EM with at most m states per symbol.

        Args:
            m: maximum number of states.
            seed: seed of the random initial parameters.
            to_the_end: whether to iterate until F1 on dev stops rising; otherwise one iteration is run.
        """
        parameters, seconds = self._start(m, seed), 0.0
        best = EMRun(0.0)
        for iteration in range(1, (self.most if to_the_end else 1) + 1):
            started = process_time()
            counts, log_likelihood = self.index.expected_counts(parameters)
            parameters = self.index.probabilities(counts, SOFT_SMOOTHING)
            seconds += process_time() - started
            best = replace(best, iteration_seconds=seconds / iteration)
            if not to_the_end or iteration % self.every:
                continue
            f1 = self._f1(counts)
            experiment.note(f"EM m={m} iteration {iteration}: {log_likelihood:.0f}, F1 {f1:.2f}")
            if best.f1 is None or f1 > best.f1:
                best = replace(best, f1=f1, iterations=iteration)
            elif iteration - best.iterations >= PATIENCE * self.every:
                break
        return best

    def _start(self, m: int, seed: int) -> StateCounts:
        n_states = self.index.nodes.wanted_states(m, self.estimator.nodes_per_state)
        start = self.index.random_counts(n_states, noise=NOISE, random_state=seed)
        return self.index.probabilities(start, SOFT_SMOOTHING)

    def _f1(self, counts: StateCounts) -> float:
        grammar = state_grammar(self.index, counts, SOFT_SMOOTHING)
        return ParsingTask().evaluate(with_grammar(self.parser, grammar), self.dev).overall.f1


def with_grammar(parser: Parser, grammar: LatentGrammar) -> Parser:
    """Return a parser that scores its forests with another grammar."""
    (first,) = parser.grammar_sets
    return replace(parser, grammar_sets=(replace(first, grammars=(grammar,)),))


# ---------------------------------------------------------------------------------------------------------
# Tables


def score_cells(m: int, arguments: argparse.Namespace, folder: Path) -> list[object]:
    """Return table cells with F1 of ``preset=tutorial`` and of default settings, with ``m`` states."""
    cells: list[object] = []
    for text in (f"lpcfg:preset=tutorial,n_states={m}", f"lpcfg:grammars=tensors,n_states={m}"):
        runs = experiment.runs_of(Setting.read(text), arguments.seeds, folder / "train", folder / "dev")
        cells.append(experiment.mean_spread([run.f1 for run in runs]))
    return cells


def em_score_cells(runs: list[EMRun]) -> list[object]:
    """Return table cells with F1 of EM's best models, and their numbers of iterations."""
    scores = [run.f1 for run in runs if run.f1 is not None]
    if not scores:
        return [None, None]
    return [experiment.mean_spread(scores), f"{mean(run.iterations for run in runs):.0f}"]


def time_cells(spectral: dict[str, float], runs: list[EMRun]) -> list[object]:
    """Return table cells with seconds of spectral learning and of EM, ordered as in the tutorial's table."""
    to_best = [run.iterations * run.iteration_seconds for run in runs if run.f1 is not None]
    return [
        f"{mean(run.iteration_seconds for run in runs):.2f}",
        f"{mean(to_best):.0f}" if to_best else None,
        f"{sum(spectral.values()):.1f}",
        *(f"{spectral[part]:.2f}" for part in ("SVD", "a → bc", "a → x")),
    ]


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = experiment.argument_parser(__doc__)
    experiment.add_seeds(parser)
    parser.add_argument(
        "--states", type=experiment.numbers, default=STATES, metavar="M,…", help="default 8,16,24,32"
    )
    parser.add_argument(
        "--em-states",
        type=experiment.numbers,
        default=EM_STATES,
        metavar="M,…",
        help="of these, where EM runs to its best model; default 8,16",
    )
    parser.add_argument("--em-iterations", type=int, default=80, metavar="N", help="at most; default 80")
    parser.add_argument("--em-every", type=int, default=10, metavar="N", help="dev F1 every N; default 10")
    arguments = parser.parse_args()
    folder = experiment.folder_of(arguments)
    experiment.print_heading("states")
    train, dev = peers.treebank(folder / "train"), peers.treebank(folder / "dev")
    em = EM(train, dev, arguments.em_every, arguments.em_iterations)
    scores: list[list[object]] = []
    times: list[list[object]] = []
    for m in arguments.states:
        to_the_end = m in arguments.em_states
        runs = [
            em.run(m, seed, to_the_end=to_the_end) for seed in range(arguments.seeds if to_the_end else 1)
        ]
        published = [f"{score:.2f}" for score in PUBLISHED[m]] if m in PUBLISHED else [None, None]
        scores.append([m, *score_cells(m, arguments, folder), *em_score_cells(runs), *published])
        times.append([m, *time_cells(spectral_seconds(LPCFG(n_states=m), train), runs)])
        if m in PUBLISHED_TIMES:
            times.append([f"tutorial, {m}", *PUBLISHED_TIMES[m]])
    header = ["m", "`preset=tutorial`", "`grammars=tensors`", "EM", "iterations", "tutorial: EM", "spectral"]
    print(f"### F1 by number of states, {arguments.treebank} dev\n\n{report.table(header, scores)}\n")
    header = ["m", "EM: an iteration", "to its best", "spectral: total", "SVD", "a → bc", "a → x"]
    print(f"### Processor seconds of training, {arguments.treebank}\n\n{report.table(header, times)}")


if __name__ == "__main__":
    main()
