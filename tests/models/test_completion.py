"""The trees of partly known sentences, and what is learned from them."""

from __future__ import annotations

from dataclasses import replace
from math import exp
from pathlib import Path

import numpy as np
import pytest

from spectralnlp import Constraints, InMemoryCorpus, Parser, changes
from spectralnlp.changes.adaptation.completion import completions
from spectralnlp.errors import InputError
from spectralnlp.estimators.parser.parsers import LPCFGParser
from spectralnlp.tasks.parsing import ParsingTask
from spectralnlp.text.constraints import ConstraintError, NoTreeError
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree, read_brackets

LOW = "(S (NP (N I)) (VP (V saw) (NP (NP (D a) (N man)) (PP (P of) (NP (N wax))))))"
HIGH = "(S (NP (N I)) (VP (V saw) (NP (D a) (N man)) (PP (P of) (NP (N wax)))))"
WORDS = ["I", "saw", "a", "man", "of", "wax"]
PLAIN = LPCFGParser(grammars="clusters", n_states=1, pruner_states=0, binarisations="left")


def treebank(low: int, high: int) -> list[Tree]:
    return list(read_brackets([LOW] * low + [HIGH] * high))


@pytest.fixture(scope="module")
def parser() -> Parser:
    trained = ParsingTask().train(replace(PLAIN), InMemoryCorpus(treebank(3, 1)))
    assert isinstance(trained, Parser)
    return trained


def sentence(words: list[str], **constraints: object) -> Sentence:
    return replace(Sentence.from_words(words), constraints=Constraints.of(**constraints))  # type: ignore[arg-type]


def test_shares_are_the_probabilities_of_the_trees(parser: Parser) -> None:
    found = completions(parser, Sentence.from_words(WORDS))
    assert {str(each.tree) for each in found} == {LOW, HIGH}
    p = [exp(parser.tree_log_probability(each.tree)) for each in found]
    assert [each.share for each in found] == pytest.approx([each / sum(p) for each in p])
    assert found[0].share > found[1].share


def test_constraints_leave_some_of_the_trees(parser: Parser) -> None:
    words = [*WORDS, "of", "a", "man"]
    every = completions(parser, Sentence.from_words(words))
    some = completions(parser, sentence(words, brackets=[(2, 6, "NP")], forbidden=[(2, 9)]))
    meeting = [e for e in every if ("NP", 2, 6) in e.tree.spans() and ("NP", 2, 9) not in e.tree.spans()]
    assert 0 < len(meeting) < len(every)
    total = sum(each.share for each in meeting)
    assert {e.tree: e.share for e in some} == pytest.approx({e.tree: e.share / total for e in meeting})


def test_what_no_tree_meets(parser: Parser) -> None:
    with pytest.raises(NoTreeError, match="no tree of the model meets"):
        completions(parser, sentence(WORDS, brackets=[(0, 1, "PP")]))
    with pytest.raises(ConstraintError, match="XP"):
        completions(parser, sentence(WORDS, brackets=[(0, 3, "XP")]))


def test_learning_counts_each_tree_by_its_share() -> None:
    """Rules of an undecided sentence have fractions of counts, and its words are one token each."""
    own, general = treebank(0, 2), changes.moments_of(PLAIN, InMemoryCorpus(treebank(6, 0)))
    learned = changes.adapt(PLAIN, general, InMemoryCorpus(own), weight=3.0)
    shares = {str(each.tree): each.share for each in completions(learned, Sentence.from_words(WORDS))}
    assert shares == pytest.approx({LOW: 0.5, HIGH: 0.5}, abs=0.4)
    lines: list[str] = []
    bad = sentence(WORDS, brackets=[(0, 1, "PP")])
    adapted = changes.adapt(
        PLAIN,
        general,
        InMemoryCorpus(own),
        weight=3.0,
        partial=[sentence(WORDS), bad, sentence(WORDS)],
        report=lines.append,
    )
    assert [line for line in lines if "partial" in line] == [
        "adapt: 2 of 3 partial trees completed, 2.0 ways each; the first of the others, 'I saw a man of wax'"
        ": no tree of the model meets bracket (0, 1, 'PP')"
    ]
    assert adapted.info["training trees"] == 10
    assert adapted.info["training tokens"] == 60
    low, high = 6 + 2 * 3 * shares[LOW], 2 * 3 + 2 * 3 * shares[HIGH]
    tree = dict(zip((LOW, HIGH), read_brackets([LOW, HIGH]), strict=True))
    ratio = exp(adapted.tree_log_probability(tree[LOW]) - adapted.tree_log_probability(tree[HIGH]))
    assert ratio == pytest.approx(_ratio(low, high), rel=1e-6)


def _ratio(low: float, high: float) -> float:
    """How much likelier the low attachment is than the high one, by relative frequencies of their rules."""
    trees = low + high
    np_all = 2 * trees + trees + low  # I, wax; a man; and the phrase around the last
    p_low_np, p_low_vp = low / np_all, low / trees
    return p_low_np * p_low_vp / (high / trees)


def test_a_parser_alone_counts_each_tree_by_its_share(own_corpora: Path) -> None:
    trees = treebank(3, 3)
    parser = ParsingTask().train(replace(PLAIN), InMemoryCorpus(treebank(3, 1)))
    once = changes.adapt_without_treebank(parser, trees, weight=1.0)
    shares = {str(each.tree): each.share for each in completions(once, Sentence.from_words(WORDS))}
    more = changes.adapt_without_treebank(parser, trees, weight=1.0, partial=[sentence(WORDS)] * 4)
    assert more.info["adapted to trees"] == 10
    tree = dict(zip((LOW, HIGH), read_brackets([LOW, HIGH]), strict=True))
    ratio = exp(more.tree_log_probability(tree[LOW]) - more.tree_log_probability(tree[HIGH]))
    assert ratio == pytest.approx(_ratio(6 + 4 * shares[LOW], 4 + 4 * shares[HIGH]), rel=1e-3)
    with pytest.raises(InputError, match="XP"):
        changes.adapt_without_treebank(parser, trees, partial=[sentence(WORDS, brackets=[(0, 3, "XP")])])
    assert np.isfinite(ratio)
