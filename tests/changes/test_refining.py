"""Parsers that keep no moments, adapted from what they hold: counts and the span scorer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp.changes import Adapter, adapt_without_treebank
from spectralnlp.changes.adaptation.adapter import _examples, _held_out
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.gold_spans import GoldSpans
from spectralnlp.estimators.parser.grammar_counts import GrammarCounts
from spectralnlp.inference.trees.labels import SharedLabels
from spectralnlp.inference.trees.rescoring.corpus import NOT_AN_OPTION
from spectralnlp.trees import Tree, cleaned, read_brackets, read_trees


@pytest.fixture(scope="module")
def en() -> spectralnlp.Parser:
    parser = spectralnlp.load("en")
    assert isinstance(parser, spectralnlp.Parser)
    return parser


@pytest.fixture(scope="module")
def trees(own_treebank: Path) -> list[Tree]:
    return list(cleaned(read_trees(own_treebank / "dev.mrg")))


def test_an_example_has_the_brackets_of_its_tree(en: spectralnlp.Parser, trees: list[Tree]) -> None:
    shared = SharedLabels.of([each.coarse for each in en.grammar_sets])
    n_labels, n_found, n_missing = len(shared.names), 0, 0
    gold = GoldSpans.of_trees(trees, shared)
    examples = _examples([each.coarse for each in en.grammar_sets], en, trees[:10], gold)
    for tree, example in zip(trees, examples, strict=False):
        options = example.options
        found = set()
        for span in np.flatnonzero(example.gold >= 0).tolist():
            label = int(options.label[example.gold[span]])
            chain = (label,) if label < n_labels else shared.labels.pairs[label - n_labels].tolist()
            ends = int(options.start[span]), int(options.end[span])
            found |= {(shared.names[each], *ends) for each in chain}
        n_found += len(found)
        n_missing += int((example.gold == NOT_AN_OPTION).sum())
        assert found <= set(tree.spans())
        assert len(found) >= len(set(tree.spans())) - 4
    assert len(examples) == 10
    assert n_found > 10 * n_missing


@pytest.mark.slow
def test_the_scorer_learns_from_trees_that_contradict_it(en: spectralnlp.Parser) -> None:
    """A domain in which prepositional phrases always hang at the verb."""
    nouns, names = ("boat", "lamp", "rope", "net", "oar"), ("keeper", "sailor", "girl", "captain", "boy")
    told = [
        f"(TOP (S (NP (DT The) (NN {name})) (VP (VBD saw) (NP (DT the) (NN {noun})) (PP (IN with) "
        f"(NP (DT a) (NN {other})))) (. .)))"
        for name in names
        for noun in nouns
        for other in nouns
    ]
    own = [tree.children[0] for tree in read_brackets(told)]
    words = ["The", "sailor", "saw", "the", "gull", "with", "a", "telescope", "."]
    before, after = en.parse_tokens(words), adapt_without_treebank(en, own).parse_tokens(words)
    assert ("NP", 3, 8) in before.tree.spans()
    assert ("NP", 3, 8) not in after.tree.spans()
    assert {("VP", 2, 8), ("NP", 3, 5), ("PP", 5, 8)} <= set(after.tree.spans())


@pytest.mark.slow
def test_few_trees_leave_the_scorer_alone(en: spectralnlp.Parser, trees: list[Tree]) -> None:
    few, more = adapt_without_treebank(en, trees[:10]), adapt_without_treebank(en, trees)
    before, none, some, again = (
        each.components["span_scorer"] for each in (en, few, more, adapt_without_treebank(en, trees))
    )
    assert none is before
    assert some is not before
    assert len(more.about) >= len(few.about)
    np.testing.assert_array_equal(some.weights, again.weights)


def test_trees_that_are_held_out() -> None:
    trees = [Tree("X", word=str(number)) for number in range(11)]
    for most in (None, 6):
        assert sorted(int(str(tree.word)) for fold in _held_out(trees, most) for tree in fold) == [*range(11)]
        assert len(_held_out(trees, most)) == 2
    assert [tree.word for (fold,) in [_held_out(trees, 3)] for tree in fold] == ["8", "9", "10"]


def test_what_was_counted_is_not_counted_again(en: spectralnlp.Parser, trees: list[Tree]) -> None:
    adapter = Adapter(en)
    changed = [*trees[5:15], trees[7], Tree("NP", [Tree("NN", word="gull")])]
    for own in (trees[:12], trees[:15], changed, trees[:1], trees[15::-1]):
        again, fresh = (adapt_without_treebank(each, own) for each in (adapter, en))
        for ours, theirs in zip(again.grammar_sets, fresh.grammar_sets, strict=True):
            assert ours.chains == theirs.chains
            np.testing.assert_array_equal(ours.coarse.binary.values, theirs.coarse.binary.values)
            np.testing.assert_array_equal(ours.coarse.lexicon.values, theirs.coarse.lexicon.values)


def test_counts_of_trees_are_taken_away_exactly(en: spectralnlp.Parser, trees: list[Tree]) -> None:
    general = GrammarCounts(en.grammar_sets, 1000.0)
    whole, some, others = map(general.count, (trees, trees[:7], trees[7:]))
    without, alone = (general.plus(each, 2.0) for each in ([(whole, 1.0), (some, -1.0)], [(others, 1.0)]))
    for ours, theirs in zip(without, alone, strict=True):
        assert (ours.chains, ours.coarse.symbols) == (theirs.chains, theirs.coarse.symbols)
        np.testing.assert_array_equal(ours.coarse.binary_rules, theirs.coarse.binary_rules)
        np.testing.assert_array_equal(ours.coarse.binary.values, theirs.coarse.binary.values)
        np.testing.assert_array_equal(ours.coarse.lexicon.values, theirs.coarse.lexicon.values)


def test_what_cannot_be_adapted(own_treebank: Path, en: spectralnlp.Parser) -> None:
    with pytest.raises(InputError, match="no trees to adapt to"):
        adapt_without_treebank(en, [])
    plain = spectralnlp.train("lpcfg", own_treebank / "train.mrg", preset="tutorial")
    assert isinstance(plain, spectralnlp.Parser)
    with pytest.raises(ConfigError, match="hold no counts"):
        adapt_without_treebank(plain, [Tree("NP", [Tree("NN", word="gull")])])
