from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.scoring import EvalbScore, SentenceCounts, Status, TagSource, count_sentence, with_gold_tags
from spectralnlp.scoring.evalb import _count_crossing
from spectralnlp.scoring.prm import COLLINS
from spectralnlp.trees.tree import Tree

Read = Callable[[str], Tree]

GOLD = (
    "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw) (NP (DT a) (NN dog)) (PP (IN with) (NP (PRP me)))) (. .)))"
)


def test_counts_by_hand(tree: Read) -> None:
    predicted = tree(
        "(TOP (S (NP (DT the) (NN cat)) (VP (VBD saw)"
        " (NP (NP (DT a) (JJ dog)) (PP (IN with) (NP (PRP me))))) (. .)))"
    )
    # Gold S NP VP NP PP NP, predicted the same and an NP around "a dog with me".
    expected = SentenceCounts(length=8, matched=6, gold=6, test=7, crossing=0, words=7, correct_tags=6)
    assert count_sentence(tree(GOLD), predicted) == expected


def test_crossing_counts_predicted_brackets(tree: Read) -> None:
    gold = tree("(S (A (X a) (X b)) (B (X c) (X d)))")
    predicted = tree("(S (X a) (C (D (X b) (X c))) (X d))")
    assert count_sentence(gold, predicted).crossing == 2  # C and D, however many gold brackets each crosses
    assert count_sentence(predicted, gold).crossing == 2  # A and B


def test_unary_chains_match_as_multisets(tree: Read) -> None:
    twice, thrice = tree("(S (NP (NP (NN x))))"), tree("(S (NP (NP (NP (NN x)))))")
    counts = count_sentence(twice, thrice)
    assert (counts.matched, counts.gold, counts.test) == (3, 3, 4)
    shuffled = count_sentence(tree("(S (VP (NP (NN x))))"), tree("(NP (S (VP (NN x))))"))
    assert shuffled.complete  # the order within a chain is not looked at


def test_function_tags_and_traces_do_not_count(tree: Read) -> None:
    raw = tree(
        "( (S (NP-SBJ-1 (DT the) (NN cat)) (VP (VBD saw) (NP=2 (DT a) (NN dog))"
        " (PP-CLR (IN with) (NP (PRP me) (-NONE- *U*))) (SBAR (-NONE- 0) (S (-NONE- *T*-1)))) (. .)) )"
    )
    clean = tree(GOLD)
    assert count_sentence(raw, clean) == count_sentence(clean, clean) == count_sentence(clean, raw)
    assert count_sentence(raw, raw).complete


@pytest.mark.parametrize("outer", ["", "TOP ", "ROOT "])
@pytest.mark.parametrize("tags", ["gold", "predicted"])
def test_the_outermost_bracket_has_three_names(tree: Read, outer: str, tags: TagSource) -> None:
    counts = count_sentence(tree(f"({outer}(S (NN x) (NN y)))"), tree("(S (NN x) (NN y))"), tags=tags)
    assert (counts.matched, counts.gold, counts.test) == (1, 1, 1)


def test_advp_is_prt(tree: Read) -> None:
    gold, predicted = tree("(VP (VB go) (PRT (RP on)))"), tree("(VP (VB go) (ADVP (RP on)))")
    assert count_sentence(gold, predicted).complete
    strict = replace(COLLINS, eq_labels=frozenset())
    assert count_sentence(gold, predicted, strict).matched == 1


def test_equivalent_labels_hold_for_tags_and_deleted_brackets(tree: Read) -> None:
    parameters = replace(COLLINS, eq_labels=frozenset({("S1", "TOP"), ("NN", "NNS")}))
    counts = count_sentence(tree("(S1 (S (NN x)))"), tree("(TOP (S (NNS x)))"), parameters)
    assert counts == SentenceCounts(length=1, matched=1, gold=1, test=1, words=1, correct_tags=1)


def test_unlabelled(tree: Read) -> None:
    parameters = replace(COLLINS, labelled=False)
    assert count_sentence(tree("(S (NP (NN x)))"), tree("(VP (SQ (NN x)))"), parameters).matched == 2


def test_equivalent_words(tree: Read) -> None:
    gold, predicted = tree("(NP (NN theatre))"), tree("(NP (NN theater))")
    assert count_sentence(gold, predicted).status is Status.ERROR
    parameters = replace(COLLINS, eq_words=frozenset({("theater", "theatre")}))
    assert count_sentence(gold, predicted, parameters).complete


def test_punctuation_moves_brackets_only_when_it_counts(tree: Read) -> None:
    gold, predicted = tree("(S (NP (NN x) (, ,)) (VP (VB y)))"), tree("(S (NP (NN x)) (, ,) (VP (VB y)))")
    assert count_sentence(gold, predicted).complete
    counting_commas = replace(COLLINS, delete_labels=COLLINS.delete_labels - {","})
    assert count_sentence(gold, predicted, counting_commas).matched == 2


def test_gold_tags_line_punctuation_up(tree: Read) -> None:
    gold, predicted = tree("(S (NN x) (: --) (NN y))"), tree("(S (NN x) (NN --) (VB y))")
    assert count_sentence(gold, predicted, tags="predicted") == SentenceCounts(3, Status.ERROR)
    assert count_sentence(gold, predicted) == SentenceCounts(
        3, matched=1, gold=1, test=1, words=2, correct_tags=1
    )


def test_with_gold_tags(tree: Read) -> None:
    gold = tree("(S (-NONE- *) (NN x) (VP (VBZ y) (-NONE- 0)))")
    assert with_gold_tags(gold, tree("(S (NP (FW x)) (FW y))")) == tree("(S (NP (NN x)) (VBZ y))")
    short = tree("(S (FW x))")
    assert with_gold_tags(gold, short) is short


def test_a_quote_that_one_side_deletes_stays_in_both(tree: Read) -> None:
    gold, predicted = tree("(S (NP (NNS dogs) (POS ')) (NN x))"), tree("(S (NP (NNS dogs) ('' ')) (NN x))")
    assert count_sentence(gold, predicted, tags="predicted").status is Status.ERROR
    parameters = replace(COLLINS, quote_labels=frozenset({"POS", "''"}))
    expected = SentenceCounts(3, matched=2, gold=2, test=2, words=3, correct_tags=2)
    assert count_sentence(gold, predicted, parameters, tags="predicted") == expected


def test_sentences_that_cannot_be_scored(tree: Read) -> None:
    gold = tree(GOLD)
    assert count_sentence(gold, None) == SentenceCounts(8, Status.SKIP)
    assert count_sentence(gold, tree("(S (NN cat))")) == SentenceCounts(8, Status.ERROR)
    assert count_sentence(gold, tree(GOLD.replace("dog", "dogs"))) == SentenceCounts(8, Status.ERROR)
    assert count_sentence(tree("(TOP (. .))"), tree("(TOP (. .))")) == SentenceCounts(1, Status.SKIP)


def test_scores_by_hand() -> None:
    counts = [
        SentenceCounts(length=41, matched=4, gold=4, test=4, crossing=0, words=10, correct_tags=10),
        SentenceCounts(length=40, matched=2, gold=4, test=8, crossing=3, words=10, correct_tags=5),
        SentenceCounts(length=2, status=Status.ERROR),
        SentenceCounts(length=50, status=Status.SKIP),
    ]
    score = EvalbScore.total(counts)
    assert (score.sentences, score.errors, score.skipped, score.valid) == (4, 1, 1, 2)
    assert score.recall == pytest.approx(100 * 6 / 8)
    assert score.precision == pytest.approx(100 * 6 / 12)
    assert score.f1 == pytest.approx(60)
    assert score.complete_match == score.no_crossing == score.two_or_less_crossing == 50
    assert score.average_crossing == 1.5
    assert score.tagging_accuracy == 75

    short = EvalbScore.total(counts, max_length=40)
    assert (short.sentences, short.valid, short.recall, short.precision) == (2, 1, 50, 25)
    assert EvalbScore.total([]) == EvalbScore()
    assert EvalbScore().f1 == EvalbScore().average_crossing == 0.0


def test_deep_and_long_trees() -> None:
    chain, comb = Tree("NN", word="x"), Tree("NN", word="0")
    for depth in range(1000):
        chain = Tree("NP" if depth % 2 else "VP", [chain])
    for position in range(1, 400):
        comb = Tree("S", [comb, Tree("NN", word=str(position))])
    assert count_sentence(chain, chain).matched == 1000
    assert count_sentence(comb, comb).matched == 399


LABELS = st.sampled_from(["S", "NP", "VP", "PRT", "ADVP", "NP-SBJ", "TOP"])
TAGS = st.sampled_from(["NN", "VB", ",", ".", "''"])


@st.composite
def trees_over(draw: st.DrawFn, n_words: int) -> Tree:
    """Any tree over the words 0 … n_words - 1: adjacent nodes are joined until one is left."""
    nodes = [Tree(draw(TAGS), word=str(position)) for position in range(n_words)]
    while len(nodes) > 1 or draw(st.booleans()):
        start = draw(st.integers(0, len(nodes) - 1))
        end = draw(st.integers(start + 1, len(nodes)))
        nodes[start:end] = [Tree(draw(LABELS), nodes[start:end])]
    return nodes[0]


PAIRS = st.integers(1, 7).flatmap(lambda n: st.tuples(trees_over(n), trees_over(n)))


@given(PAIRS)
def test_a_tree_against_itself_is_perfect(pair: tuple[Tree, Tree]) -> None:
    counts = count_sentence(pair[0], pair[0])
    if counts.status is Status.OK:
        assert counts.complete
        assert counts.crossing == 0
        assert counts.correct_tags == counts.words
    else:
        assert set(pair[0].tags()) <= COLLINS.delete_labels


@given(PAIRS)
def test_swapping_gold_and_prediction_swaps_precision_and_recall(pair: tuple[Tree, Tree]) -> None:
    gold, predicted = pair[0], with_gold_tags(*pair)
    there, back = count_sentence(gold, predicted), count_sentence(predicted, gold)
    assert (there.matched, there.gold, there.test) == (back.matched, back.test, back.gold)
    assert there.status is back.status


@given(PAIRS)
def test_counts_are_within_bounds(pair: tuple[Tree, Tree]) -> None:
    counts = count_sentence(*pair)
    assert counts.status is not Status.ERROR  # gold tags make any two trees over the same words comparable
    assert counts.matched <= min(counts.gold, counts.test)
    assert counts.crossing <= counts.test - counts.matched
    assert counts.correct_tags <= counts.words <= counts.length


@given(PAIRS)
def test_crossing_brackets_are_those_of_the_definition(pair: tuple[Tree, Tree]) -> None:
    gold, test = ([(label, a, b) for label, a, b in tree.spans()] for tree in pair)
    expected = sum(any(a < c < b < d or c < a < d < b for _, a, b in gold) for _, c, d in test)
    assert _count_crossing(gold, test) == expected


def test_a_deep_tree_is_scored_in_linear_time() -> None:
    def comb(depth: int) -> Tree:
        tree = Tree("NN", word="last")
        for position in range(depth):
            tree = Tree("NP", [Tree("NN", word=str(position)), tree])
        return tree

    deep, started = comb(20_000), time.process_time()
    assert count_sentence(deep, deep).complete
    assert time.process_time() - started < 5
