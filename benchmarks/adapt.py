"""Measure the F1 of parsers adapted to another domain, by the number of trees of that domain.

Three kinds of parsers are compared: trained on a general treebank alone, on this treebank with N trees of the
domain, and on these N trees alone (`own N`). The trees are random samples of the domain's training part, each
nested in the next larger one; all parsers are scored on its dev part. The part `partial` adapts to sentences
of which only some brackets are known.

    python -m benchmarks.adapt
    python -m benchmarks.adapt craft --unlabelled 2000 --seeds 3
    python -m benchmarks.adapt partial --general 3000
    python -m benchmarks.adapt wsj genres --general 3000 --set span_scorer=false
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

import argparse
import random
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from statistics import mean
from time import process_time
from typing import Any, NamedTuple

from benchmarks.genres import by_genre
from spectralnlp import Constraints, InMemoryCorpus, changes
from spectralnlp.cli.train import parse_settings
from spectralnlp.errors import SpectralError
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.runtime import Corpus, expand_inputs
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

SETTINGS = ["preset=fast", "sentence_ends=false"]
PARTS = {
    "craft": ("gum", "craft"),
    "wsj": ("gum", "wsj"),
    "genres": ("wsj", "gum"),
    "partial": ("gum", "craft"),
}
LONGEST = 100  # tokens


def drawn(corpus: Corpus[Tree], most: int | None = None, seed: int = 0) -> list[Tree]:
    """Return trees of a corpus in random order, without very long ones, at most ``most`` if it is given."""
    trees = [tree for tree in corpus if len(tree.words()) <= LONGEST]
    random.Random(seed).shuffle(trees)
    return trees[:most]


class Row(NamedTuple):
    """Row of the table: name of a parser, weight of the domain's trees, scores on dev, and CPU seconds."""

    name: str
    weight: float | None
    f1: float
    tags: float
    seconds: float


class General:
    """General treebank, with a cached parser and moments learned from it.

    Args:
        trees: trees of the treebank.
        learner: unfitted estimator of parsers.
    """

    def __init__(self, trees: Sequence[Tree], learner: LPCFGParser) -> None:
        self.corpus, self.learner = InMemoryCorpus(trees), learner

    @cached_property
    def parser(self) -> Any:
        """Parser trained on the general treebank alone."""
        return ParsingTask().train(replace(self.learner), self.corpus)

    @cached_property
    def labels(self) -> set[str]:
        """Phrase labels of the general treebank."""
        return {label for tree in self.corpus for label, _, _ in tree.spans()}

    @cached_property
    def moments(self) -> Any:
        """Moments of the general treebank (sums over trees), to which adaptation adds domain trees."""
        return changes.moments_of(self.learner, self.corpus)


class Domain:
    """Domain to which a parser is adapted.

    Args:
        general: general treebank.
        train, dev: trees of the domain.
        arguments: arguments of the command line.
    """

    def __init__(self, general: General, train: Sequence[Tree], dev: Sequence[Tree], arguments: Any) -> None:
        self.general, self.train, self.learner = general, train, general.learner
        self.gold, self.arguments = InMemoryCorpus(dev), arguments
        self.task = ParsingTask()

    def scored(self, name: str, parser: Any, started: float, weight: float | None = None) -> Row:
        """Return the table row of a parser, after scoring it on the domain's dev part.

        Args:
            name: name of the row.
            parser: the parser.
            started: CPU time at which its training started.
            weight: weight of the domain's trees; None for none.
        """
        found = self.task.evaluate(parser, self.gold).overall
        row = Row(name, weight, found.f1, found.tagging_accuracy, process_time() - started)
        experiment.note(f"{name}: F1 {row.f1:.2f}, tags {row.tags:.2f}, {row.seconds:.0f} s")
        return row

    def rows(self) -> list[Row]:
        """Return table rows of parsers trained on the general treebank, on both, and on domain trees."""
        started = process_time()
        rows = [self.scored("general", self.general.parser, started)]
        for size in self.arguments.sizes:
            if size <= len(self.train):
                rows.append(self.adapted(size))
        if self.arguments.unlabelled:
            # Unlabelled sentences are the last of the training part.
            text = [tree.words() for tree in self.train[200:][-self.arguments.unlabelled :]]
            rows.append(self.adapted(200, f"{len(text):,} without trees", unlabelled=text))
        for size in self.arguments.own:
            if size <= len(self.train):
                started = process_time()
                parser = self.task.train(replace(self.learner), InMemoryCorpus(self.train[:size]))
                rows.append(self.scored(f"own {size:,}", parser, started))
        return rows

    def adapted(self, size: int, suffix: str = "", **more: Any) -> Row:
        """Return the table row of a parser adapted to a number of domain trees.

        Args:
            size: number of trees.
            suffix: end of the row's name.
            more: further arguments of `changes.adapt`.
        """
        started, own = process_time(), self.train[:size]
        weight = changes.default_weight(self.general.moments, size)
        parser = changes.adapt(
            replace(self.learner), self.general.moments, InMemoryCorpus(own), weight=weight, **more
        )
        name = f"general + {size:,}" + (f" + {suffix}" if suffix else "")
        return self.scored(name, parser, started, weight)

    def partial_rows(self) -> list[Row]:
        """Return table rows of parsers adapted to partial trees, by the share of known brackets.

        Each parser is adapted to 50 complete trees and 200 trees of which only some brackets are known.
        """
        n_trees, n_partial = 50, 200
        started, own = process_time(), self.train[:n_trees]
        weight = changes.default_weight(self.general.moments, n_trees)
        learned = changes.adapt(self.learner, self.general.moments, InMemoryCorpus(own), weight=weight)
        rows = [self.scored(f"general + {n_trees}", learned, started, weight)]
        labels = self.general.labels | {label for tree in own for label, _, _ in tree.spans()}
        kinds: dict[str, Callable[[random.Random, str], bool]] = {
            "no brackets": lambda _, label: False,
            "brackets of NP": lambda _, label: label == "NP",
            "half of the brackets": lambda rng, label: rng.random() < 0.5,
            "all brackets": lambda _, label: True,
        }
        for name, is_known in kinds.items():
            rng, sentences = random.Random(0), []
            for tree in self.train[n_trees : n_trees + n_partial]:
                brackets = [(start, end, label) for label, start, end in tree.spans()]
                known = [each for each in brackets if each[2] in labels and is_known(rng, each[2])]
                words, constraints = tree.words(), Constraints.of(brackets=known)
                with suppress(SpectralError):  # the grammar cannot parse some sentences
                    learned.parse_tokens(words, brackets=known)
                    sentences.append(replace(Sentence.from_words(words), constraints=constraints))
            rows.append(self.adapted(n_trees, f"{len(sentences)} with {name}", partial=sentences))
        rows.append(self.adapted(n_trees + n_partial))
        return rows


HEADER = ("learned from", "weight", "F1", "tags", "CPU s")


def table_of(rows: Sequence[Row]) -> str:
    """Return rows as a Markdown table."""
    cells = [
        [
            row.name,
            None if row.weight is None else f"{row.weight:.1f}",
            f"{row.f1:.2f}",
            f"{row.tags:.2f}",
            f"{row.seconds:.0f}",
        ]
        for row in rows
    ]
    return report.table(HEADER, cells)


def print_draws(draws: Sequence[Sequence[Row]]) -> None:
    """Print mean scores over random samples, and their differences to the first and the last row.

    Args:
        draws: rows of the table for each random sample.
    """
    cells: list[list[object]] = []
    for same in zip(*draws, strict=True):
        gains = [row.f1 - rows[0].f1 for row, rows in zip(same, draws, strict=True)]
        behind = [row.f1 - rows[-1].f1 for row, rows in zip(same, draws, strict=True)]
        cells.append([same[0].name, f"{mean(row.f1 for row in same):.2f}", _spread(gains), _spread(behind)])
    header = ("learned from", "F1", f"over {draws[0][0].name}", f"over {draws[0][-1].name}")
    print(f"Mean of {len(draws)} draws (least, most)\n\n{report.table(header, cells)}\n", flush=True)


def _spread(values: Sequence[float]) -> str:
    return f"{mean(values):+.2f} ({min(values):+.2f}, {max(values):+.2f})"


def print_part(part: str, arguments: argparse.Namespace) -> None:
    """Print the tables of one part of the benchmark.

    Args:
        part: name of the part.
        arguments: arguments of the command line.
    """
    names = PARTS[part]
    folders = [arguments.corpora / "treebanks" / name for name in names]
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
    learner = LPCFGParser.from_settings(parse_settings([*SETTINGS, *(arguments.settings or [])]))
    general = General(drawn(peers.treebank(folders[0] / "train"), arguments.general), learner)
    if part != "genres":
        dev, draws = drawn(peers.treebank(folders[1] / "dev"))[: arguments.dev], []
        for seed in range(arguments.seeds):
            train = drawn(peers.treebank(folders[1] / "train"), seed=seed)
            domain = Domain(general, train, dev, arguments)
            draws.append(domain.partial_rows() if part == "partial" else domain.rows())
            title = f"### {' → '.join(names)}, draw {seed}, {learner}"
            print(f"{title}\n\n{table_of(draws[-1])}\n", flush=True)
        if len(draws) > 1:
            print_draws(draws)
        return
    files = {each: by_genre(expand_inputs([folders[1] / each])) for each in ("train", "dev")}
    for genre, paths in files["train"].items():
        if genre in files["dev"]:
            train, dev = (drawn(ParsingTask().read(each)) for each in (paths, files["dev"][genre]))
            here = argparse.Namespace(**{**vars(arguments), "own": [], "unlabelled": 0})
            domain = Domain(general, train, dev[: arguments.dev], here)
            title = f"### {names[0]} → {genre} of {names[1]}"
            print(f"{title}, {learner}\n\n{table_of(domain.rows())}\n", flush=True)


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = report.argument_parser(__doc__, corpora=True)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--general", type=int, metavar="N", help="general trees, at most; default all")
    parser.add_argument("--dev", type=int, default=1000, metavar="N", help="scored, at most; default 1000")
    parser.add_argument("--sizes", type=experiment.numbers, default=[50, 200, 1000], metavar="N,…")
    parser.add_argument("--own", type=experiment.numbers, default=[200, 2000], metavar="N,…")
    parser.add_argument("--unlabelled", type=int, default=0, metavar="N", help="sentences, with 200 trees")
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="draws of the domain's trees")
    parser.add_argument("--set", action="append", dest="settings", metavar="KEY=VALUE")
    arguments = parser.parse_args()
    experiment.print_heading("adapt")
    for part in arguments.parts or PARTS:
        print_part(part, arguments)


if __name__ == "__main__":
    main()
