"""Compare forecasts of F1 at double the data with the F1 after training on it.

Half of each treebank's training trees, in random blocks of neighbours, is given to `forecast`, which predicts
F1 for twice as many; then a parser is trained on all of them. Both are scored on the same trees of the dev
part, supplemented from the training part if it is small. Treebanks are cut to ``--trees``. The whole takes
about a quarter of an hour on one core.

    python -m benchmarks.forecast
    python -m benchmarks.forecast --treebanks gum,craft --trees 10000 --set preset=fast
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

import argparse
import random
import sys
from dataclasses import replace
from pathlib import Path
from statistics import mean
from time import process_time

from spectralnlp import InMemoryCorpus
from spectralnlp.cli.train import parse_settings
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.runtime import Corpus
from spectralnlp.tasks.forecasting import forecast
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree

TREEBANKS = ("wsj", "gum", "craft", "floresta", "icepahc")
# Without the span scorer, which takes three quarters of the training time.
SETTINGS = ["preset=fast", "span_scorer=false", "sentence_ends=false"]
BLOCK = 50
HEADER = ("treebank", "given", "F1", "forecast for", "F1", "95 %", "truth", "error", "check", "CPU s")


def shuffled(corpus: Corpus[Tree], longest: int, seed: int) -> list[Tree]:
    """Return all trees except very long ones, in blocks of neighbours in random order.

    Args:
        corpus: the trees.
        longest: maximum number of words of a tree.
        seed: seed of the order.
    """
    blocks = []
    for partition in corpus.partitions():
        trees = [tree for tree in partition if len(tree.words()) <= longest]
        blocks += [trees[first : first + BLOCK] for first in range(0, len(trees), BLOCK)]
    random.Random(seed).shuffle(blocks)
    return [tree for block in blocks for tree in block]


def row_of(folder: Path, arguments: argparse.Namespace, learner: LPCFGParser) -> tuple[list[object], float]:
    """Return the table row of a treebank, and the forecast's error in points of F1."""
    started = process_time()
    train = shuffled(peers.treebank(folder / "train"), 100, arguments.seed)
    dev = shuffled(peers.treebank(folder / "dev"), 100, arguments.seed)[: arguments.dev]
    n_more = max(min(arguments.dev, len(train) // 4) - len(dev), 0)  # a small dev part is supplemented
    train, dev = train[: len(train) - n_more], dev + train[len(train) - n_more :]
    n_full = min(arguments.trees, len(train)) // 2 * 2
    gold = InMemoryCorpus(dev)
    found = forecast(
        learner,
        InMemoryCorpus(train[: n_full // 2]),
        [n_full],
        held_out=gold,
        rounds=arguments.rounds,
        random_state=arguments.seed,
        report=lambda line: experiment.note(f"{folder.name}: {line}"),
    )
    task = ParsingTask()
    learners = [replace(learner, random_state=seed) for seed in range(arguments.seeds)]
    parsers = [task.train(each, InMemoryCorpus(train[:n_full])) for each in learners]
    truth = mean(task.evaluate(parser, gold).overall.f1 for parser in parsers)
    point, check = found.points[-1], found.check
    low, high = point.interval
    experiment.note(f"{folder.name}: {n_full} trees: F1 {truth:.2f}, forecast {point.f1:.2f}")
    row = [
        folder.name,
        f"{n_full // 2:,}",
        f"{found.now.f1:.2f}",
        f"{n_full:,}",
        f"{point.f1:.2f}",
        f"{low:.1f} to {high:.1f}",
        f"{truth:.2f}",
        f"{point.f1 - truth:+.2f}",
        None if check is None or check.observed is None else f"{check.f1 - check.observed:+.2f}",
        f"{process_time() - started:.0f}",
    ]
    return row, point.f1 - truth


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    parser.add_argument("--treebanks", default=",".join(TREEBANKS), metavar="NAME,…")
    parser.add_argument("--trees", type=int, default=2400, metavar="N", help="of each, at most; default 2400")
    parser.add_argument("--dev", type=int, default=800, metavar="N", help="scored, at most; default 800")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="runs of each size; default 3")
    parser.add_argument("--seeds", type=int, default=2, metavar="N", help="runs on all trees; default 2")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument("--set", action="append", dest="settings", metavar="KEY=VALUE")
    arguments = parser.parse_args()
    learner = LPCFGParser.from_settings(parse_settings(arguments.settings or SETTINGS))
    experiment.print_heading("forecast")
    rows, errors = [], []
    for name in arguments.treebanks.split(","):
        folder = arguments.corpora / "treebanks" / name
        if not folder.is_dir():
            sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
        row, error = row_of(folder, arguments, learner)
        rows.append(row)
        errors.append(error)
    within = sum(abs(error) <= 0.5 for error in errors)
    print(f"### F1 at double the data, {learner}\n\n{report.table(HEADER, rows)}\n")
    print(f"Within 0.5 F1: {within} of {len(errors)}.")


if __name__ == "__main__":
    main()
