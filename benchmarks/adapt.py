"""F1 in another domain by the number of its trees: a general treebank alone, with them, and they alone.

The trees of the domain are drawn at random from its training part, the smaller draws being part of the
larger; all is scored on trees of its dev part. `own N` learns from N trees of the domain and nothing else.

    python -m benchmarks.adapt
    python -m benchmarks.adapt craft --unlabelled 2000
    python -m benchmarks.adapt wsj genres --general 3000 --set span_scorer=false
"""

from __future__ import annotations

from benchmarks import experiment, peers, report  # first: it sets the number of threads  # isort: skip

import argparse
import random
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Any

from benchmarks.genres import by_genre
from spectralnlp import LPCFG, InMemoryCorpus, changes
from spectralnlp.cli.train import parse_settings
from spectralnlp.runtime import Corpus, expand_inputs
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.trees import Tree

SETTINGS = ["preset=fast", "sentence_ends=false"]
PARTS = {"craft": ("gum", "craft"), "wsj": ("gum", "wsj"), "genres": ("wsj", "gum")}
LONGEST = 100  # tokens


def drawn(corpus: Corpus[Tree], most: int | None = None) -> list[Tree]:
    """So many trees of a corpus in a random order, without very long ones."""
    trees = [tree for tree in corpus if len(tree.words()) <= LONGEST]
    random.Random(0).shuffle(trees)
    return trees[:most]


class General:
    """A general treebank, and what is learned from it once.

    Args:
        trees: its trees.
        learner: of parsers, unfitted.
    """

    def __init__(self, trees: Sequence[Tree], learner: LPCFG) -> None:
        self.corpus, self.learner = InMemoryCorpus(trees), learner

    @cached_property
    def parser(self) -> Any:
        """A parser that knows nothing else."""
        return ParsingTask().train(replace(self.learner), self.corpus)

    @cached_property
    def moments(self) -> Any:
        """What is added to."""
        return changes.observed(self.learner, self.corpus)


class Domain:
    """A domain to adapt to.

    Args:
        general: what is adapted.
        train, dev: trees of the domain.
        arguments: of the command.
    """

    def __init__(self, general: General, train: Sequence[Tree], dev: Sequence[Tree], arguments: Any) -> None:
        self.general, self.train, self.learner = general, train, general.learner
        self.gold, self.arguments = InMemoryCorpus(dev), arguments
        self.task = ParsingTask()

    def scored(self, name: str, parser: Any, started: float, weight: float | None = None) -> list[object]:
        """A line of the table."""
        found = self.task.evaluate(parser, self.gold).overall
        seconds = process_time() - started
        experiment.note(f"{name}: F1 {found.f1:.2f}, tags {found.tagging_accuracy:.2f}, {seconds:.0f} s")
        cells = [f"{found.f1:.2f}", f"{found.tagging_accuracy:.2f}", f"{seconds:.0f}"]
        return [name, None if weight is None else f"{weight:.1f}", *cells]

    def rows(self) -> list[list[object]]:
        """The table: the general treebank, with trees of the domain, and these alone."""
        started = process_time()
        rows = [self.scored("general", self.general.parser, started)]
        for size in self.arguments.sizes:
            if size <= len(self.train):
                rows.append(self.adapted(size, 0))
        if self.arguments.unlabelled:
            rows.append(self.adapted(200, self.arguments.unlabelled))
        for size in self.arguments.own:
            if size <= len(self.train):
                started = process_time()
                parser = self.task.train(replace(self.learner), InMemoryCorpus(self.train[:size]))
                rows.append(self.scored(f"own {size:,}", parser, started))
        return rows

    def adapted(self, size: int, n_unlabelled: int) -> list[object]:
        """The line of an adapted parser; unlabelled sentences are the last of the training part."""
        started = process_time()
        own, text = self.train[:size], [tree.words() for tree in self.train[size:][-n_unlabelled:]]
        weight = changes.usual_weight(self.general.moments, size)
        if self.arguments.trials:
            weight = changes.choose_weight(self.learner, self.general.moments, own, experiment.note)
        parser = changes.adapt(
            replace(self.learner),
            self.general.moments,
            InMemoryCorpus(own),
            weight=weight,
            unlabelled=text if n_unlabelled else None,
        )
        name = f"general + {size:,}" + (f" + {len(text):,} without trees" if n_unlabelled else "")
        return self.scored(name, parser, started, weight)


HEADER = ("learned from", "weight", "F1", "tags", "CPU s")


def print_part(part: str, arguments: argparse.Namespace) -> None:
    """The table, or the tables, of a part."""
    names = PARTS[part]
    folders = [arguments.corpora / "treebanks" / name for name in names]
    for folder in folders:
        if not folder.is_dir():
            sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
    learner = LPCFG.from_settings(parse_settings([*SETTINGS, *(arguments.settings or [])]))
    general = General(drawn(peers.treebank(folders[0] / "train"), arguments.general), learner)
    if part != "genres":
        train, dev = (drawn(peers.treebank(folders[1] / each)) for each in ("train", "dev"))
        domain = Domain(general, train, dev[: arguments.dev], arguments)
        print(
            f"### {' → '.join(names)}, {learner}\n\n{report.table(HEADER, domain.rows())}\n",
            flush=True,
        )
        return
    files = {each: by_genre(expand_inputs([folders[1] / each])) for each in ("train", "dev")}
    for genre, paths in files["train"].items():
        if genre in files["dev"]:
            train, dev = (drawn(ParsingTask().read(each)) for each in (paths, files["dev"][genre]))
            here = argparse.Namespace(**{**vars(arguments), "own": [], "unlabelled": 0})
            domain = Domain(general, train, dev[: arguments.dev], here)
            title = f"### {names[0]} → {genre} of {names[1]}"
            print(f"{title}, {learner}\n\n{report.table(HEADER, domain.rows())}\n", flush=True)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    parser.add_argument("--general", type=int, metavar="N", help="general trees, at most; default all")
    parser.add_argument("--dev", type=int, default=1000, metavar="N", help="scored, at most; default 1000")
    parser.add_argument("--sizes", type=experiment.numbers, default=[50, 200, 1000], metavar="N,…")
    parser.add_argument("--own", type=experiment.numbers, default=[200, 2000], metavar="N,…")
    parser.add_argument("--unlabelled", type=int, default=0, metavar="N", help="sentences, with 200 trees")
    parser.add_argument("--trials", action="store_true", help="choose weights by trials, as the command does")
    parser.add_argument("--set", action="append", dest="settings", metavar="KEY=VALUE")
    arguments = parser.parse_args()
    experiment.print_heading("adapt")
    for part in arguments.parts or PARTS:
        print_part(part, arguments)


if __name__ == "__main__":
    main()
