"""Compare measures of syntactic complexity with those of the package neosca, and time them.

``neosca`` compares counts of structures and ratios over the same trees; it needs neosca (``pip install
--no-deps neosca JPype1 charset-normalizer``). If STANFORD_TREGEX_HOME is set, its patterns are matched by
Stanford's Tregex, otherwise by the reference matcher of ``tests/search``. ``speed`` times whole treebanks.

    python -m benchmarks.measures speed
    python -m benchmarks.measures neosca --trees 50
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

from spectralnlp_trees import RATIOS, STRUCTURES, measure

from spectralnlp.runtime import expand_inputs
from spectralnlp.trees import Tree, add_root, cleaned, read_brackets, read_trees, strip_root

ROOT = Path(__file__).parent.parent


def every(trees: Sequence[Tree], number: int) -> list[Tree]:
    """Return ``number`` trees at equal distances, under the root label that neosca expects."""
    step = max(1, len(trees) // number)
    return [add_root(strip_root(tree), "ROOT") for tree in trees[::step][:number]]


def values_of_neosca(trees: Sequence[Tree]) -> dict[str, float]:
    """Return the counts of structures and the ratios from neosca."""
    from neosca.querier import StanfordTregex
    from neosca.structure_counter import StructureCounter

    sys.path.append(str(ROOT / "tests" / "search"))
    from plain_search import plain_search

    class PlainWalk(StanfordTregex):
        def __init__(self) -> None: ...

        def get_matches(self, sname: str, pattern_string: str, trees: str) -> list[Any]:
            found = plain_search(list(read_brackets(trees.splitlines())), pattern_string)
            return list({each[:2] for each in found})

    home = os.environ.get("STANFORD_TREGEX_HOME")
    engine = PlainWalk() if home is None else StanfordTregex(f"{home}{os.sep}*")
    counter = StructureCounter("trees")
    engine.set_all_values(counter, "\n".join(map(str, trees)))
    values = counter.get_all_values()
    return {name: float(values[name]) for name in (*STRUCTURES, *RATIOS)}


def compare_with_neosca(arguments: argparse.Namespace) -> None:
    """Print the measures of the same trees by this package and by neosca."""
    if find_spec("neosca") is None:
        sys.exit("neosca is not installed; see --help")
    own = [*read_trees(ROOT / "corpora/treebank/dev.mrg"), *read_trees(ROOT / "corpora/treebank/train.mrg")]
    gum = [
        tree
        for file in expand_inputs([arguments.corpora / "treebanks" / "gum" / "dev"])
        for tree in read_trees(file)
    ]
    header, rows = ["trees"], list[list[str]]()
    for name, trees in {"our own": own, "GUM, dev": gum}.items():
        some = every(list(cleaned(trees)), arguments.trees)
        theirs, found = values_of_neosca(some), measure(some)
        ours = {**found.structures, **found.ratios}
        header += [f"{name}, {len(some)}", "neosca"]
        for place, key in enumerate(ours):
            if len(rows) <= place:
                rows.append([key])
            rows[place] += [f"{ours[key]:.2f}", f"{theirs[key]:.2f}"]
    print(report.table(header, rows), "\n")


def speed(arguments: argparse.Namespace) -> None:
    """Print how many seconds it takes to measure treebanks in memory."""
    rows = []
    for name in ("gum/dev", "wsj/train", "craft/train"):
        files = expand_inputs([arguments.corpora / "treebanks" / name])
        trees = [tree for file in files for tree in read_trees(file)]
        started = process_time()
        found = measure(trees)
        seconds = process_time() - started
        numbers = [f"{found.ratios[ratio]:.2f}" for ratio in ("MLS", "MLT", "C/T", "CN/C")]
        rows.append([name, f"{len(trees):,}", f"{seconds:.2f}", *numbers, f"{found.mean_depth:.2f}"])
    print(report.table(("treebank", "trees", "s", "MLS", "MLT", "C/T", "CN/C", "depth"), rows), "\n")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add arguments for the folder of the treebanks and the number of trees for neosca."""
    parser.add_argument("--trees", type=int, default=50, metavar="N", help="of each treebank; default 50")


if __name__ == "__main__":
    report.run_parts(__doc__, {"speed": speed, "neosca": compare_with_neosca}, add_arguments, corpora=True)
