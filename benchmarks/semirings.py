"""Compare recursions over semirings with special-purpose kernels: speed, compilation and caching.

Both sides run in turn on the same forests and chains, and give identical results except where the order of
sums differs. Compilation is timed in a fresh process with an empty cache; a second process checks whether the
kernel is loaded from the cache. The last rows try two other designs that numba supports.

    python -m benchmarks.semirings
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks import semiring_kernels as special
from spectralnlp.inference.chains import linear_chains
from spectralnlp.inference.semirings import AnyAll, MaxPlus, SumProduct
from spectralnlp.inference.trees import dense, kbest, latent, state_vectors, viterbi
from spectralnlp.inference.trees.coarse import inside
from spectralnlp.inference.trees.construction import build_forest
from spectralnlp.inference.trees.forest import Forest
from spectralnlp.inference.trees.recursions import derivation_weights
from spectralnlp.inference.trees.rule_index import RuleIndex
from spectralnlp.inference.trees.sparse import state_weights
from spectralnlp.inference.trees.state_vectors import StateVectors
from spectralnlp.inference.words.lexical import coarse_values, look_up
from spectralnlp.jit import kernel
from spectralnlp.models.parser import Parser
from spectralnlp.trees import read_trees

TREEBANK = Path(__file__).parent.parent / "corpora" / "treebank"
JOINED = 3  # sentences that are joined, because those of the treebank are short
TAGS = (17, 45, 200)
TOKENS = 25

Call = Callable[[], Any]


class Pair(NamedTuple):
    """Task that is solved by a kernel for one semiring, and by the recursion over any semiring."""

    name: str
    special: Call
    semiring: Call


def parser_of(estimator: str) -> Parser:
    """Train a parser of an estimator on a small treebank."""
    from spectralnlp import registry

    kind = registry.estimators.get(estimator)
    task = registry.tasks.get(kind.task)()
    parser: Parser = task.train(kind.from_settings({}), task.read([TREEBANK / "train.mrg"]))
    return parser


def forests_of(parser: Parser) -> list[tuple[Forest, Any]]:
    """Return unpruned forests of joined sentences, and the lexicon indices of their words."""
    sentences = [tree.words() for tree in read_trees(TREEBANK / "dev.mrg")]
    coarse, signature = parser.coarse, parser.forest_parser.grammars[0].signature
    found = []
    for first in range(0, len(sentences) - JOINED + 1, JOINED):
        words = [word for sentence in sentences[first : first + JOINED] for word in sentence]
        entries = look_up(coarse.lexicon, words, signature)
        rules = RuleIndex.of(coarse)
        chart = inside(rules, coarse_values(coarse, entries, None), beam=1e-4)
        if chart.total > 0:
            forest = build_forest(chart, rules, node_threshold=1e-7, edge_threshold=1e-8)
            found.append((forest, entries))
    return found


def forest_pairs() -> Iterator[Pair]:
    """Yield tasks on forests, with one number or a vector of states per node."""
    parser = parser_of("pcfg")
    grammar = parser.grammars[0]
    scored = forests_of(parser)
    forests = [forest for forest, _ in scored]
    rng = np.random.default_rng(0)
    gains = [rng.standard_normal(forest.n_edges) for forest in forests]
    ones = [np.ones(forest.n_edges) for forest in forests]
    keep = [rng.random(forest.n_edges) < 0.9 for forest in forests]
    rules = latent.rule_tensors(grammar)
    vectors = [
        (forest, state_vectors.vector_offsets(forest, grammar), latent.leaf_vectors(forest, grammar, entries))
        for forest, entries in scored
    ]
    log_rules = viterbi.log_rules(grammar)
    log_vectors = [
        (forest._replace(factor=np.log(forest.factor)), offsets, np.log(leaves))
        for forest, offsets, leaves in vectors
    ]

    def best_derivations() -> list[Any]:
        chosen = []
        for forest, offsets, leaves in log_vectors:
            best = state_weights(MaxPlus(), forest, log_rules, offsets, leaves)
            states = StateVectors(offsets, best, np.full_like(best, -np.inf))
            root = state_vectors.root_weights(forest, grammar, offsets)
            states.outside[: len(root)] = np.log(np.maximum(root, 1e-300))
            chosen.append(viterbi._derivation(forest, log_rules, states))
        return chosen

    yield Pair(
        "number of trees",
        lambda: [special.count(forest) for forest in forests],
        lambda: [derivation_weights(SumProduct(), *each) for each in zip(forests, ones, strict=True)],
    )
    yield Pair(
        "any derivation of the hyperedges kept",
        lambda: [special.productive(*each) for each in zip(forests, keep, strict=True)],
        lambda: [derivation_weights(AnyAll(), *each) for each in zip(forests, keep, strict=True)],
    )
    yield Pair(
        "tree of the largest gain (and of k-best, the start)",
        lambda: [special.best_by_gains(*each) for each in zip(forests, gains, strict=True)],
        lambda: [
            kbest._best_tree(forest, gain, derivation_weights(MaxPlus(), forest, gain))
            for forest, gain in zip(forests, gains, strict=True)
        ],
    )
    yield Pair(
        "inside of states, sparse rules",
        lambda: [special.inside(forest, rules, *each) for forest, *each in vectors],
        lambda: [state_weights(SumProduct(), forest, rules, *each) for forest, *each in vectors],
    )
    yield Pair(
        "Viterbi of states, sparse rules",
        lambda: [special.viterbi(forest, log_rules, *each) for forest, *each in log_vectors],
        best_derivations,
    )


def dense_pairs() -> Iterator[Pair]:
    """Yield tasks for the inside recursion over dense tensors, which the package's kernel batches by rule."""
    parser = parser_of("lpcfg")
    grammar = max(parser.grammars, key=lambda each: each.binary.values.size)
    rules, dense_inside = latent.rule_tensors(grammar), kernel(dense.dense_inside)
    vectors = [
        (forest, state_vectors.vector_offsets(forest, grammar), latent.leaf_vectors(forest, grammar, entries))
        for forest, entries in forests_of(parser)
    ]
    for forest, _, leaves in vectors:
        rules.score(forest, grammar, leaves)  # prepares the rules
    yield Pair(
        "inside of states, dense tensors",
        lambda: [dense_inside(forest, rules, leaves) for forest, _, leaves in vectors],
        lambda: [special.dense_weights(SumProduct(), forest, rules, *each) for forest, *each in vectors],
    )


def chain_pairs() -> Iterator[Pair]:
    """Yield tasks on chains of tags."""
    for n_tags in TAGS:
        rng = np.random.default_rng(n_tags)

        def scores(*shape: int, rng: np.random.Generator = rng) -> Any:
            return rng.standard_normal(shape).astype(np.float32)

        start, end, transitions = scores(n_tags), scores(n_tags), scores(n_tags, n_tags)
        emissions = [scores(TOKENS, n_tags) for _ in range(200)]
        into, tags = np.ascontiguousarray(transitions.T), np.empty(TOKENS, np.int32)
        best, back = np.empty((2, n_tags), np.float32), np.empty((TOKENS, n_tags), np.int32)
        totals, logarithms = np.empty((TOKENS, n_tags), np.float32), np.empty((TOKENS, n_tags))
        wide = transitions.astype(np.float64)

        def by_pointers(
            emissions: Any = emissions, rest: Any = (into, start, end, best, back, tags)
        ) -> list[Any]:
            return [(special.chain_viterbi(each, *rest), rest[-1].copy())[1] for each in emissions]

        def by_semiring(
            emissions: Any = emissions, rest: Any = (transitions, start, end, totals, tags)
        ) -> list[Any]:
            return [(linear_chains.viterbi(each, *rest), rest[-1].copy())[1] for each in emissions]

        yield Pair(f"Viterbi of a chain, {n_tags} tags", by_pointers, by_semiring)
    few = emissions[:20]
    yield Pair(
        f"forward in logarithms of a chain, {n_tags} tags",
        lambda: [special.chain_log_sum(each, wide, start, logarithms) for each in few],
        lambda: [linear_chains.forward(special.LogSum(), each, wide, start, logarithms) for each in few],
    )


def other_pairs() -> Iterator[Pair]:
    """Yield tasks for two other designs of semirings, which are not cached."""
    forests = [forest for forest, _ in forests_of(parser_of("pcfg"))]
    closure = special.closed_over(special.add, special.multiply)
    yield Pair(
        "number of trees, as a closure over two kernels",
        lambda: [special.count(forest) for forest in forests],
        lambda: [closure(forest) for forest in forests],
    )
    yield Pair(
        "number of trees, with two kernels as arguments",
        lambda: [special.count(forest) for forest in forests],
        lambda: [special.passed(special.add, special.multiply, forest) for forest in forests],
    )


GROUPS = {"forests": forest_pairs, "dense": dense_pairs, "chains": chain_pairs, "others": other_pairs}


def ratio(pair: Pair, rounds: int) -> tuple[float, float]:
    """Return the median CPU seconds of a task's special kernel, and the other kernel's median ratio to it."""
    times: list[tuple[float, float]] = []
    for _ in range(rounds):
        turn = []
        for call in (pair.special, pair.semiring):
            started = process_time()
            call()
            turn.append(process_time() - started)
        times.append((turn[0], turn[1]))
    return median(a for a, _ in times), median(b / a for a, b in times)


def first_calls(group: str) -> list[list[tuple[float, int]]]:
    """Return the cost of the first call of each side of each task, which compiles kernels.

    Args:
        group: name of a group of tasks.

    Returns:
        For each task and side, the seconds of the call and the number of kernels compiled in it.
    """
    from numba.core import event

    class Counter(event.Listener):
        compiled = 0

        def on_start(self, event: Any) -> None:
            self.compiled += 1

        def on_end(self, event: Any) -> None:
            pass

    found = []
    for pair in GROUPS[group]():
        sides = []
        for call in (pair.special, pair.semiring):
            counter = Counter()
            started = perf_counter()
            with event.install_listener("numba:compile", counter):
                call()
            sides.append((perf_counter() - started, counter.compiled))
        found.append(sides)
    return found


def child(group: str, cache: str) -> list[list[tuple[float, int]]]:
    """Call `first_calls` in a new process with its own kernel cache.

    Args:
        group: name of a group of pairs.
        cache: folder of the cache.
    """
    command = [sys.executable, "-m", "benchmarks.semirings", "--first-calls", group]
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    measured: list[list[tuple[float, int]]] = json.loads(done.stdout)
    return measured


def rows(groups: Sequence[str], rounds: int) -> Iterator[list[object]]:
    """Yield a table row for each task."""
    for group in groups:
        with TemporaryDirectory() as cache:
            cold, warm = child(group, cache), child(group, cache)
        for pair, first, second in zip(GROUPS[group](), cold, warm, strict=True):
            pair.special(), pair.semiring()
            seconds, relative = ratio(pair, rounds)
            yield [
                pair.name,
                f"{1e3 * seconds:.1f}",
                f"{relative:.2f}",
                *(f"{each[0]:.1f}" for each in first),
                *("no" if each[1] else "yes" for each in second),
            ]


HEADER = (
    "purpose",
    "special ms",
    "semiring / special",
    "special first s",
    "semiring first s",
    "special cached",
    "semiring cached",
)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=25, metavar="N", help="turns of each pair")
    parser.add_argument("--group", action="append", choices=list(GROUPS), help="all by default")
    parser.add_argument("--first-calls", choices=list(GROUPS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.first_calls:
        print(json.dumps(first_calls(arguments.first_calls)))
        return
    print(report.machine(), end="\n\n")
    print(report.table(HEADER, rows(arguments.group or list(GROUPS), arguments.rounds)))


if __name__ == "__main__":
    main()
