"""Compare the speed of searching treebanks with Tregex patterns with that of NLTK's tgrep.

``wsj`` counts the matching nodes in NLTK's sample of the WSJ, as tgrep does; ``craft`` times the making of an
index, counting, and iterating over all matches. Times are seconds on one thread.

    python -m benchmarks.search wsj craft
    python -m benchmarks.search wsj --nltk-trees 500
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
from collections.abc import Sequence
from pathlib import Path

from spectralnlp_trees import TreeIndex

from spectralnlp.runtime import expand_inputs
from spectralnlp.trees import Tree, read_trees

# Patterns that have the same syntax in both languages.
PATTERNS = [
    "NP < (PP < IN)",
    "S << NN",
    "VP << (NP < NNP)",
    "/^NP-SBJ/ $. VP",
    "NP !<< DT",
    "NN . VBZ",
    "NP <- NN > VP",
]


def trees_of(folders: Sequence[Path]) -> list[Tree]:
    """Return all trees of some folders, unchanged."""
    return [tree for file in expand_inputs(folders) for tree in read_trees(file)]


def compare_with_tgrep(arguments: argparse.Namespace) -> None:
    """Print how long this package and NLTK's tgrep take to search the WSJ sample for patterns."""
    from nltk.tgrep import tgrep_positions
    from nltk.tree import ParentedTree

    trees = trees_of([arguments.corpora / "treebanks" / "wsj" / part for part in ("train", "dev")])
    seconds, index = report.timed(lambda: TreeIndex.of(trees))
    share = trees[: arguments.nltk_trees]
    parented = [ParentedTree.convert(tree.to_nltk()) for tree in share]
    rows = []
    for pattern in PATTERNS:
        here, n_nodes = report.timed(lambda p=pattern: index.count(p, once=True), 3)
        there, found = report.timed(lambda p=pattern: list(tgrep_positions(p, parented)))
        same = TreeIndex.of(share).count(pattern, once=True) == sum(map(len, found))
        there *= len(trees) / len(share)
        cells = [f"`{pattern}`", f"{n_nodes:,}", f"{1000 * here:.1f}", f"{there:.2f}", f"{there / here:,.0f}"]
        rows.append([*cells, "yes" if same else "no"])
    print(f"WSJ sample: {len(trees):,} trees, {len(index):,} nodes, indexed in {seconds:.2f} s.\n")
    print(report.table(("pattern", "nodes", "ms", "tgrep, s", "times as fast", "the same nodes"), rows), "\n")


def large(arguments: argparse.Namespace) -> None:
    """Print how long this package takes to count and to list the matches of patterns in CRAFT."""
    trees = trees_of([arguments.corpora / "treebanks" / "craft" / "train"])
    seconds, index = report.timed(lambda: TreeIndex.of(trees))
    rows = []
    for pattern in [*PATTERNS, "NP <<# NN", "NP .+(PP|ADJP) VP", "S < (/^NP-SBJ/=subject $+ VP=predicate)"]:
        counting, n_matches = report.timed(lambda p=pattern: index.count(p), 3)
        searching, _ = report.timed(lambda p=pattern: sum(1 for _ in index.search(p)))
        rows.append([f"`{pattern}`", f"{n_matches:,}", f"{counting:.3f}", f"{searching:.3f}"])
    print(f"CRAFT: {len(trees):,} trees, {len(index):,} nodes, indexed in {seconds:.2f} s.\n")
    print(report.table(("pattern", "matches", "s to count", "s for all matches"), rows), "\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add arguments for the folder of the treebanks and the number of trees for NLTK."""
    parser.add_argument(
        "--nltk-trees",
        type=int,
        default=None,
        metavar="N",
        help="time tgrep on so many trees, and scale it up",
    )


if __name__ == "__main__":
    report.run_parts(__doc__, {"wsj": compare_with_tgrep, "craft": large}, add_arguments, corpora=True)
