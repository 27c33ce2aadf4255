"""Errors of many trees: tables, pages, differences."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from spectralnlp_trees import analyse, as_page, as_text, diff
from spectralnlp_trees.comparison.parsing import trees_over

from spectralnlp import evaluate, load
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.scoring import score_trees
from spectralnlp.trees import Tree, cleaned, read_brackets, read_trees

TREEBANK = Path(__file__).parents[3] / "corpora" / "treebank"
GOLD = "(S (NP (PRP he)) (VP (VBD saw) (NP (NN rain)) (PP (IN at) (NP (NN noon)))) (. .))"
TREE = "(S (NP (PRP he)) (VP (VBD saw) (NP (NP (NN rain)) (PP (IN at) (NP (NN noon))))) (. .))"
OTHER = "(S (NP (PRP he)) (ADVP (VBD saw) (NP (NN rain)) (PP (IN at) (NP (NN noon)))) (. .))"


def flat(tree: Tree) -> Tree:
    return Tree("S", tree.preterminals())


@pytest.fixture(scope="module")
def gold() -> list[Tree]:
    return list(read_trees(TREEBANK / "dev.mrg"))


def test_totals_are_those_of_evalb(gold: list[Tree]) -> None:
    trees = [*map(flat, gold[:15]), *gold[15:28], None, Tree("NN", word="other")]
    groups = ["flat"] * 15 + ["same"] * 15
    found = analyse(gold, trees, groups=groups)
    score = score_trees(gold, trees).overall
    assert found.score == score
    assert found.n_wrong == score.gold + score.test - 2 * score.matched
    assert sum(each.brackets for each in found.by_type()) == found.n_wrong
    assert sum(missing + extra for _, missing, extra in found.by_label()) == found.n_wrong
    for split in (found.by_length(), found.by_group()):
        assert sum(part.n_wrong for _, part in split) == found.n_wrong
    assert [(name, part.score.sentences) for name, part in found.by_group()] == [("flat", 15), ("same", 15)]
    values = found.to_json()
    assert (values["unscored"], values["groups"]["same"]["wrong_brackets"]) == (2, 0)
    assert found.worst(1)[0].n_wrong == max(each.n_wrong for each in found.sentences)


def test_confusion() -> None:
    trees = list(read_brackets([GOLD, GOLD, TREE, OTHER]))
    found = analyse(trees[:2], trees[2:])
    assert found.confusion() == [(("VP", "ADVP"), 1)]
    assert found.by_label() == [("ADVP", 0, 1), ("NP", 0, 1), ("VP", 1, 0)]


def test_inputs_that_do_not_fit() -> None:
    (tree,) = read_brackets([GOLD])
    with pytest.raises(InputError, match="2 gold trees but 1 trees"):
        analyse([tree, tree], [tree])
    with pytest.raises(ConfigError, match="0 names in"):
        analyse([tree], [tree], groups=[])


@pytest.mark.slow
def test_a_model_parses_the_words_of_gold_trees(gold: list[Tree]) -> None:
    parser = load("en")
    trees = trees_over(parser, [*gold, Tree("S", [Tree("-NONE-", word="*")])])
    assert trees.pop() is None
    report = evaluate(parser, cleaned(gold))
    assert analyse(cleaned(gold), trees).score.f1 == report.overall.f1


def test_two_parsers_stand_side_by_side(gold: list[Tree]) -> None:
    a, b = analyse(gold, gold), analyse(gold, map(flat, gold))
    text = as_text([a, b], ["good", "flat"])
    assert "errors good" in text
    assert "p = 0.0001" in text
    assert text.splitlines()[1].split()[:4] == ["good", "100.00", "100.00", "100.00"]
    page = as_page([a, b], ["good", "flat"], title="both", worst=3)
    assert page.count("<section") == 3
    assert page.count("<svg") == 9


def test_the_page_is_whole_escaped_and_needs_nothing_else() -> None:
    name = "<script>alert(1)</script>&"
    gold = Tree("S", [Tree("<b>", [Tree("NN", word="<i>"), Tree("NN", word="&\x00")]), Tree("NN", word='"')])
    page = as_page([analyse([gold], [flat(gold)], groups=[name])], [name], title=name)
    body = re.sub(r"<style>.*</style>", "", page.replace("<!DOCTYPE html>", ""), flags=re.DOTALL)
    ET.fromstring(re.sub(r"<(meta[^>]*)>", r"<\1/>", body).replace("<br>", "<br/>"))
    assert not re.search("<script|<i>|<b>|&\x00|\x00", page)
    assert not re.search(r"(src|href)=|url\(|@import", page)
    assert 'class="phrase missing"' in page
    assert "prefers-color-scheme: dark" in page


def test_large_trees_are_listed_not_drawn() -> None:
    gold = flat(Tree("S", [Tree("NN", word=f"w{number}") for number in range(200)]))
    tree = Tree("S", [Tree("NP", gold.children[:2]), *gold.children[2:]])
    page = as_page([analyse([gold], [tree])], ["mine"], title="long")
    assert "<svg" not in page
    assert "+   NP w0 w1" in page


def test_diff_shows_what_moved() -> None:
    gold, tree, other = read_brackets([GOLD, TREE, OTHER.replace("NN rain", "VB rain")])
    assert not diff(gold, gold)
    assert diff(gold, tree).to_text(context=0) == "+     NP rain at noon"
    assert diff(gold, other).to_text(context=0) == (
        "-   VP saw rain at noon\n+   ADVP saw rain at noon\n- NN rain\n+ VB rain"
    )
    high, low = read_brackets(
        [
            "(S (NP (PRP he)) (VP (VBD ate) (ADVP (RB there))))",
            "(S (NP (PRP he)) (VP (VBD ate)) (ADVP (RB there)))",
        ]
    )
    found = diff(high, low)
    assert found.to_text().splitlines()[-1] == "~ ADVP there: from VP to S"
    assert found.to_text(colour=True).count("\x1b[0m") == len(found.to_text().splitlines())
    assert found.to_json()["moves"] == [{"labels": ["ADVP"], "start": 2, "end": 3, "from": "VP", "to": "S"}]
    with pytest.raises(InputError, match="same words"):
        diff(gold, high)


@pytest.mark.slow
def test_diffs_of_deep_trees_do_not_recurse() -> None:
    first = second = Tree("NN", word="w")
    for depth in range(20_000):
        first = Tree("NP", [Tree("DT", word="a"), first])
        second = Tree("VP" if depth == 7 else "NP", [Tree("DT", word="a"), second])
    assert len(diff(first, second).to_text(context=0)) < 500
