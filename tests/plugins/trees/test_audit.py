"""Doubtful nodes: variation, changes, the ranking of planted errors, the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from spectralnlp_trees import Bracket, Doubt, audit
from spectralnlp_trees.auditing.changes import changes
from spectralnlp_trees.auditing.doubts import Change, Kind
from spectralnlp_trees.auditing.mending import mended, part_around
from spectralnlp_trees.auditing.page import as_audit_page
from spectralnlp_trees.auditing.variation import Variation, bracket_variation, tag_variation
from spectralnlp_trees.tregex.show import Place

from spectralnlp import read_treebank
from spectralnlp.errors import InputError
from spectralnlp.trees import Tree, read_brackets
from spectralnlp.trees.parse import BracketPosteriors

TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"
FLAT = "(S (NP (DT the) (JJ old) (NN lamp)) (VP (VBZ burns)) (. .))"
NESTED = "(S (NP (DT the) (NP (JJ old) (NN lamp))) (VP (VBZ burns)) (. .))"
NOUN = "(S (NP (DT the) (NN old) (NN lamp)) (VP (VBZ burns)) (. .))"
RAIN = "(S (NP (PRP he)) (VP (VBD saw) (NP (NN rain)) (PP (IN at) (NP (NN noon)))) (. .))"


def parsed(*brackets: str) -> list[Tree]:
    return list(read_brackets(brackets))


def test_words_annotated_in_two_ways() -> None:
    trees = parsed(FLAT, NESTED, FLAT, NOUN, RAIN)
    assert bracket_variation(trees)[1] == {(1, 3): Variation((), 0, 3)}
    assert [list(each) for each in bracket_variation(trees)] == [[], [(1, 3)], [], [], []]
    assert [*map(len, tag_variation(trees))] == [0, 0, 0, 1, 0]
    assert tag_variation(trees)[3] == {(1, 2): Variation(("JJ",), 0, 3)}
    # Neither side of a tie is doubted, and other neighbours are another context.
    assert not any(bracket_variation(parsed(FLAT, NESTED)))
    other = "(S (NP (PRP$ my) (NP (JJ old) (NN lamp))) (VP (VBZ burns)) (. .))"
    assert not any(bracket_variation(parsed(FLAT, FLAT, other)))


def test_each_kind_of_change() -> None:
    (tree,) = parsed(RAIN)
    certain = {("S", 0, 6): 1.0, ("NP", 0, 1): 1.0, ("VP", 1, 5): 1.0, ("NP", 2, 3): 1.0, ("PP", 3, 5): 1.0}
    certain["NP", 4, 5] = 1.0
    tags = [{tag: 1.0} for tag in tree.tags()]
    words = dict.fromkeys(tree.words(), 100)

    def found(posteriors: dict[tuple[str, int, int], float], seen: Variation | None = None) -> list[Change]:
        brackets = {} if seen is None else {(2, 5): seen}
        near = BracketPosteriors({**certain, **posteriors}, tags)
        return [each.change for each in changes(tree, near, {}, brackets, words)]

    assert found({}) == []
    noun = Bracket("NP", 2, 5)
    assert found({("NP", 2, 5): 0.9}) == [Change(Kind.MISSING, None, noun)]
    prep = Bracket("PP", 3, 5)
    assert found({("PP", 3, 5): 0.0}) == [Change(Kind.EXTRA, prep, None)]
    assert found({prep: 0.1, ("ADVP", 3, 5): 0.9}) == [Change(Kind.LABEL, prep, Bracket("ADVP", 3, 5))]
    assert found({prep: 0.1, ("PP", 2, 5): 0.9}) == [Change(Kind.MOVED, prep, Bracket("PP", 2, 5))]
    # The parser does not know, but the same words are a bracket elsewhere.
    assert found({("NP", 2, 5): 0.4}) == []
    assert found({("NP", 2, 5): 0.4}, seen=Variation(("NP",), 0, 3)) == [Change(Kind.MISSING, None, noun)]
    tags[2] = {"NN": 0.01, "VB": 0.99}
    assert found({}) == [Change(Kind.TAG, Bracket("NN", 2, 3), Bracket("VB", 2, 3))]
    words["rain"] = 1  # a word that the parser has never seen may have any tag
    evidence = next(changes(tree, BracketPosteriors(certain, tags), {}, {}, words))
    assert evidence.log_odds < 4.0


def test_mended_trees() -> None:
    (tree,) = parsed(RAIN)
    prep, noun = Bracket("PP", 3, 5), Bracket("NP", 2, 5)
    new = {
        Change(Kind.MISSING, None, noun): "(VP (VBD saw) (NP (NP (NN rain)) (PP (IN at) (NP (NN noon)))))",
        Change(Kind.EXTRA, prep, None): "(VP (VBD saw) (NP (NN rain)) (IN at) (NP (NN noon)))",
        Change(
            Kind.LABEL, prep, Bracket("X", 3, 5)
        ): "(VP (VBD saw) (NP (NN rain)) (X (IN at) (NP (NN noon))))",
        Change(Kind.MOVED, Bracket("VP", 1, 5), Bracket("VP", 1, 3)): "(VP (VBD saw) (NP (NN rain)))",
        Change(Kind.TAG, Bracket("NN", 2, 3), Bracket("VB", 2, 3)): "(NP (VB rain))",
    }
    for change, part in new.items():
        better = mended(tree, change)
        assert better is not None
        assert part in str(better)
        assert better.words() == tree.words()
    assert mended(tree, Change(Kind.MISSING, None, Bracket("X", 0, 2))) is None
    assert mended(*parsed("(S (NN a))"), Change(Kind.EXTRA, Bracket("S", 0, 1), None)) is None
    assert [str(each) for each in part_around(tree, 3, 4)] == [str(tree.children[1]), "1"]


def test_planted_errors_come_first() -> None:
    trees = list(read_treebank(TREEBANK / "train.mrg"))
    planted = 0
    for number in range(5, len(trees), 17):
        text = str(trees[number])
        damaged = text.replace("(DT the)", "(VBD the)", 1)
        planted += damaged != text
        trees[number] = parsed(damaged)[0]
    assert planted >= 5
    first = audit(trees, limit=100)
    found = {each.tree for each in first if each.change.node and each.change.node.label == "VBD"}
    assert len(found) == planted
    doubts = [each.doubt for each in first]
    assert doubts == sorted(doubts, reverse=True)


def test_too_few_trees() -> None:
    with pytest.raises(InputError, match="1 trees are too few"):
        audit(parsed(RAIN))


def test_the_page_escapes_what_is_in_trees() -> None:
    (tree,) = parsed("(S (NP (<b> <script>)) (VP&amp; (VBD saw) (NP (NN rain))))")
    label = Doubt(0, Change(Kind.LABEL, Bracket("VP&amp;", 1, 3), Bracket("<VP>", 1, 3)), 5.0, 0.0, 1.0)
    tag = Doubt(0, Change(Kind.TAG, Bracket("<b>", 0, 1), Bracket("NN", 0, 1)), 4.0, 0.0, 1.0)
    page = as_audit_page([label, tag], [Place("a<i>.mrg", 7, tree)], title="<u>")
    body = re.sub(r"<style>.*</style>", "", page.replace("<!DOCTYPE html>", ""), flags=re.DOTALL)
    body = re.sub(r"<meta[^>]*>", "", body)
    marked = [each.get("class") for each in ET.fromstring(body).iter() if each.tag.endswith("}g")]
    assert {"phrase extra", "phrase missing", "word extra", "word missing"} <= {*marked}
    assert "<script>" not in page
    assert "a&lt;i&gt;.mrg, tree 7" in page
