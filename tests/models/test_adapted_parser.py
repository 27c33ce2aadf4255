"""Parsers adapted from their grammars alone: counts are read off them and added to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spectralnlp
from spectralnlp import InMemoryCorpus, changes, read_treebank
from spectralnlp.changes import adapt_without_treebank
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.parser.grammar_counts import _expected_states
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.models.parser import Parser
from spectralnlp.trees import Tree, read_brackets

SMALL = LPCFGParser(grammars="clusters", n_states=3, pruner_states=2)


@pytest.fixture(scope="module")
def trees(own_treebank: Path) -> list[Tree]:
    return list(read_treebank(own_treebank / "train.mrg"))


@pytest.fixture(scope="module")
def parser(trees: list[Tree]) -> Parser:
    model: Parser = spectralnlp.train(LPCFGParser(**SMALL.get_params()), InMemoryCorpus(trees[:100]))
    return model


def test_counts_are_read_off_a_grammar(parser: Parser, trees: list[Tree]) -> None:
    for grammar in parser.grammar_sets[0]._all:
        by_symbol = np.add.reduceat(_expected_states(grammar), grammar.state_offsets[:-1])
        for name in ("NP", "VP", "NN", "SBAR"):
            counted = sum(node.label == name for tree in trees[:100] for node in tree.postorder())
            assert 100 * by_symbol[grammar.symbol_index[name]] == pytest.approx(counted, rel=0.02)


def test_rules_are_those_of_all_trees_counted_together(parser: Parser, trees: list[Tree]) -> None:
    ours = adapt_without_treebank(parser, trees[100:130], weight=3.0)
    general = changes.moments_of(SMALL, InMemoryCorpus(trees[:100]))
    theirs = changes.adapt(SMALL, general, InMemoryCorpus(trees[100:130]), weight=3.0)

    def rules(grammar: spectralnlp.parameters.LatentGrammar) -> dict[tuple[str, ...], float]:
        names = grammar.symbols
        return {
            tuple(names[symbol] for symbol in rule): p
            for rule, p in zip(grammar.binary_rules.tolist(), grammar.binary.values.tolist(), strict=True)
        }

    found, expected = rules(ours.coarse), rules(theirs.coarse)
    assert found.keys() == expected.keys()
    assert [found[rule] for rule in expected] == pytest.approx(list(expected.values()), rel=1e-6)
    assert (np.diff(ours.coarse.binary_rules[:, 0]) >= 0).all()
    assert ours.coarse.root.sum() == pytest.approx(1.0)


def test_it_can_be_saved_and_learns_what_it_was_shown(
    parser: Parser, trees: list[Tree], tmp_path: Path
) -> None:
    lines = ["(HEADING (NX (NN results)))", "(S (NP (NNS zyxes)) (VP (VBP wug) (ADVP (RB wuggily))))"] * 6
    own = list(read_brackets(lines))
    adapt_without_treebank(parser, own).save(tmp_path / "model")
    loaded = spectralnlp.load(tmp_path / "model")
    for tree in own[:2]:
        assert str(loaded.parse_tokens(tree.words()).tree) == f"(TOP {tree})"
    gold = InMemoryCorpus(trees[:40])
    before, after = (spectralnlp.evaluate(each, gold).to_flat_dict()["f1"] for each in (parser, loaded))
    assert after > before - 5


def test_words_of_the_trees_get_their_tags(parser: Parser) -> None:
    tree = "(S (NP (DT the) (NN lamp)) (VP (VBD was) (ADJP (JJ quux))))"
    ours = adapt_without_treebank(parser, list(read_brackets([tree] * 3)))
    lexicon, symbols = ours.coarse.lexicon, ours.coarse.symbols
    entry = lexicon.word_index["quux"]
    rows = slice(lexicon.starts[entry], lexicon.starts[entry + 1])
    assert [symbols[tag] for tag in lexicon.tags[rows].tolist()] == ["JJ"]
    assert len(lexicon.log_weight) == len(lexicon.words) + len(lexicon.signatures)


def test_what_holds_no_counts_is_refused(trees: list[Tree], parser: Parser) -> None:
    tensors = spectralnlp.train("lpcfg", InMemoryCorpus(trees[:60]), grammars="tensors", n_states=4)
    with pytest.raises(ConfigError, match="hold no counts"):
        adapt_without_treebank(tensors, trees[:3])
    with pytest.raises(InputError, match="no trees"):
        adapt_without_treebank(parser, [])
