"""Features of nodes: the slides "Inside Features Used" and "Simple Feature Functions" (Cohen et al. 2013)."""

from __future__ import annotations

import numpy as np
import pytest

from spectralnlp.runtime import Batch
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser, Tree, read_brackets
from spectralnlp.trees.features import node_features
from spectralnlp.trees.treelog import TreeLog

# The words alone tell apart the first two trees; the third has another rule.
TREES = (
    "(S (NP (D the) (N dog)) (VP (V saw) (NP (D the) (N cat))))",
    "(S (NP (D the) (N dog)) (VP (V fed) (NP (D the) (N cat))))",
    "(S (NP (D the) (N dog)) (VP (V saw) (NP (N cats))))",
)


def features(name: str, side: str, label: str) -> list[tuple[int, ...]]:
    """The features of the first node with a label in each tree: one identifier for each template."""
    trees: list[Tree] = list(read_brackets(TREES))
    log = TreeLog(Binariser().to_dict())
    log.observe(Batch(trees, "slides", 0, 0))
    table = log.table()
    columns = np.stack(getattr(node_features(table, name, signature_by_name("english")), side))
    nodes = np.flatnonzero(table.symbol == table.symbols.index(label))
    first = nodes[np.unique(table.tree[nodes], return_index=True)[1]]
    return [tuple(column) for column in columns[:, first].T.tolist()]


@pytest.mark.parametrize("name", ["simple", "tutorial"])
def test_the_rule_below_a_preterminal_has_its_word(name: str) -> None:
    saw, fed, saw_too = features(name, "inside", "V")
    assert saw == saw_too != fed


def test_the_slides_fragment_has_its_word() -> None:
    """Of the inside features of the VP, the fragment (VP (V saw) NP) alone depends on the verb."""
    saw, fed, other = features("tutorial", "inside", "VP")
    assert [a != b for a, b in zip(saw, fed, strict=True)].count(True) == 1
    assert [a != b for a, b in zip(saw, other, strict=True)].count(True) == 2  # (VP V (NP …)) and the width
    assert len(saw) == 7  # the pair of children counts as two


@pytest.mark.parametrize("label", ["VP", "V"])
def test_simple_features_are_the_rules_below_and_above(label: str) -> None:
    inside, outside = (features("simple", side, label) for side in ("inside", "outside"))
    assert all(len(each) == 1 for each in (*inside, *outside))
    assert len(set(inside)) == (1 if label == "VP" else 2)
    assert len(set(outside)) == 1


def test_words_are_no_part_of_rules_in_rich_features() -> None:
    saw, fed, _ = features("rich", "inside", "VP")
    assert saw[:4] == fed[:4]
