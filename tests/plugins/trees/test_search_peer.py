"""Counts are those of pytregex, a translation of Tregex, where it understands and follows the manual."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from patterns import ALL, GRAMMAR
from spectralnlp_trees import TreeIndex

from spectralnlp.trees import read_trees, strip_root

tregex = pytest.importorskip("pytregex.tregex")
TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"
NO_REFERENCES = re.compile(r"[~#]\w|[^\w]=\w|#\d%| \(<|^\([^()]*\) \|")
# It takes ``!A|B`` for ``!A`` or B, drops ``!$+`` after ``$++``, and binds ``NP | VP < X`` the other way.
OTHERWISE = {"NP < !DT|NN", "NP | VP < VBZ"}
OTHERWISE |= {pattern for pattern in ALL if "!$+ CC" in pattern}
OTHERWISE |= set(GRAMMAR)


@pytest.fixture(scope="module")
def treebank() -> TreeIndex:
    trees = [*read_trees(TREEBANK / "dev.mrg"), *list(read_trees(TREEBANK / "train.mrg"))[::5]]
    return TreeIndex.of(strip_root(tree) for tree in trees if len(tree.words()) < 14)


def understood(pattern: str) -> bool:
    return pattern not in OTHERWISE and NO_REFERENCES.search(pattern) is None


@pytest.mark.parametrize("pattern", [each for each in ALL if understood(each)])
def test_counts_are_those_of_pytregex(treebank: TreeIndex, pattern: str) -> None:
    written = re.sub(r"\| (?=[<>$\[])", "|| ", pattern)  # it writes || between relations
    found = tregex.TregexPattern(written).findall("\n".join(map(str, treebank.trees)))
    assert treebank.count(pattern) == len(found)
