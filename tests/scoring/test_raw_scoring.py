"""Scores by characters: what equal segmentation gives, and what a difference costs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp import __version__
from spectralnlp.errors import InputError
from spectralnlp.scoring import COLLINS, RawReport, score_raw, score_trees
from spectralnlp.text.detokenizer import place_words
from spectralnlp.text.tokens import Sentence, Token
from spectralnlp.trees.tree import Tree

Read = Callable[[str], Tree]
ReadAll = Callable[[str], list[Tree]]
Placed = tuple[Tree, Sentence]
Counts = tuple[int, int, int]

CAT = "(TOP (S (NP (DT the) (NN cat)) (VP (VBD sat)) (. .)))"
DOG = "(TOP (S (NP (DT a) (NN dog)) (VP (MD did) (RB n't) (VP (VB bark))) (. .)))"


def placed(*trees: Tree) -> list[Placed]:
    """Trees one after another in a text."""
    result, offset = [], 0
    for tree in trees:
        sentence = place_words(tree.words(), tree.tags(), offset=offset)
        result.append((tree, sentence))
        offset = sentence.end + 1
    return result


def over(tree: Tree, words: str, start: int = 0) -> Placed:
    """A tree over words between blanks; a word that begins with ``+`` is attached to the one before."""
    tokens, offset = [], start
    for word in words.split(" "):
        glued = word.startswith("+")
        text = word.removeprefix("+")
        offset += bool(tokens) and not glued
        tokens.append(Token(text, text, offset, offset + len(text)))
        offset += len(text)
    return tree, Sentence(tuple(tokens))


def totals(report: RawReport) -> list[Counts]:
    """(matched, gold, predicted) of brackets, tags, tokens and sentence ends."""
    return [tuple(row) for row in report.counts.sum(axis=0).tolist()]


def test_the_same_trees(tree: Read) -> None:
    gold = placed(tree(CAT), tree(DOG))
    report = score_raw([(gold, gold)])
    # S NP VP, S NP VP VP; tags without the stops; tokens with them; the document's own end is given.
    assert totals(report) == [(7, 7, 7), (8, 8, 8), (10, 10, 10), (1, 1, 1)]
    assert report.counts[:, 0].tolist() == [[3, 3, 3], [4, 4, 4]]
    assert (report.f1, report.predicted_sentences) == (100, 2)


def test_a_token_cut_in_two_costs_its_tag_alone(tree: Read) -> None:
    gold = placed(tree(CAT))
    predicted = over(tree("(TOP (S (NP (DT the) (NN c) (NN at)) (VP (VBD sat)) (. .)))"), "the c +at sat +.")
    assert totals(score_raw([(gold, [predicted])])) == [(3, 3, 3), (3 - 1, 3, 4), (3, 4, 5), (0, 0, 0)]


def test_a_token_cut_in_two_costs_brackets_that_end_inside(tree: Read) -> None:
    gold = placed(tree(CAT))
    predicted = over(
        tree("(TOP (S (NP (DT the) (NN c)) (VP (VBD at) (ADVP (RB sat))) (. .)))"), "the c +at sat +."
    )
    # S is right, NP ends inside the word, VP begins there; ADVP has the wrong label.
    brackets, *_ = totals(score_raw([(gold, [predicted])]))
    assert brackets == (1, 3, 4)


def test_two_tokens_in_one(tree: Read) -> None:
    gold = placed(tree(DOG))
    predicted = over(
        tree("(TOP (S (NP (DT a) (NN dog)) (VP (MD didn't) (VP (VB bark))) (. .)))"), "a dog didn't bark +."
    )
    assert totals(score_raw([(gold, [predicted])])) == [(4, 4, 4), (3, 5, 4), (4, 6, 5), (0, 0, 0)]


def test_a_sentence_end_that_is_missed_costs_what_reaches_across_it(tree: Read) -> None:
    gold = placed(tree(CAT), tree(DOG))
    both = tree(
        "(TOP (S (S (NP (DT the) (NN cat)) (VP (VBD sat))) (. .)"
        " (S (NP (DT a) (NN dog)) (VP (MD did) (RB n't) (VP (VB bark)))) (. .)))"
    )
    words = [token for _, sentence in gold for token in sentence.tokens]
    report = score_raw([(gold, [(both, Sentence(tuple(words)))])])
    assert totals(report) == [(7, 7, 8), (8, 8, 8), (10, 10, 10), (0, 1, 0)]
    assert report.counts[:, 0].tolist() == [[3, 3, 4], [4, 4, 4]]  # the S over both begins in the first
    assert (len(report.counts), report.predicted_sentences) == (2, 1)


def test_a_sentence_end_too_many_costs_what_it_cuts(tree: Read) -> None:
    gold = placed(tree(CAT))
    tokens = gold[0][1].tokens
    predicted = [
        (tree("(TOP (NP (DT the) (NN cat)))"), Sentence(tokens[:2])),
        (tree("(TOP (S (VP (VBD sat)) (. .)))"), Sentence(tokens[2:])),
    ]
    assert totals(score_raw([(gold, predicted)])) == [(2, 3, 3), (3, 3, 3), (4, 4, 4), (0, 0, 1)]


def test_brackets_that_differ_by_punctuation_are_equal(tree: Read) -> None:
    gold = placed(tree("(TOP (S (NP (NN x)) (, ,) (VP (VB y)) (. .)))"))
    predicted = over(tree("(TOP (S (NP (NN x) (, ,)) (VP (VB y.))))"), "x +, y.")
    assert totals(score_raw([(gold, [predicted])])) == [(3, 3, 3), (2, 2, 2), (2, 4, 3), (0, 0, 0)]
    strict = replace(COLLINS, delete_labels=COLLINS.delete_labels - {","})
    assert totals(score_raw([(gold, [predicted])], strict))[0] == (2, 3, 3)


def test_equivalent_labels_and_unlabelled_brackets(tree: Read) -> None:
    gold = placed(tree("(TOP (VP (VB go) (PRT (RP on))))"))
    predicted = placed(tree("(TOP (NP (NN go) (ADVP (RP on))))"))
    assert totals(score_raw([(gold, predicted)]))[:2] == [(1, 2, 2), (1, 2, 2)]
    unlabelled = replace(COLLINS, labelled=False)
    assert totals(score_raw([(gold, predicted)], unlabelled))[:2] == [(2, 2, 2), (1, 2, 2)]


def test_documents_are_apart(tree: Read) -> None:
    one, two = placed(tree(CAT)), placed(tree(DOG))
    report = score_raw([(one, one), (two, two), ([], [])])
    assert totals(report)[3] == (0, 0, 0)
    assert len(report.counts) == 2
    assert score_raw([]).f1 == 0.0


def test_parses_of_another_text_are_refused(tree: Read) -> None:
    with pytest.raises(InputError, match="'a' is not in the text at character 0"):
        score_raw([(placed(tree(CAT)), placed(tree(DOG)))])


def trees(draw_labels: Sequence[str]) -> st.SearchStrategy[Tree]:
    tags = st.sampled_from(["NN", "VB", ",", ".", "RP"])
    leaves = st.builds(lambda tag, word: Tree(tag, word=word), tags, st.sampled_from(["x", "yy", "(", "n't"]))
    labels = st.sampled_from(draw_labels)
    nodes = st.recursive(
        leaves,
        lambda below: st.builds(Tree, labels, st.lists(below, min_size=1, max_size=3)),
        max_leaves=6,
    )
    return st.builds(lambda tree: Tree("TOP", [tree]), nodes)


@given(st.data())
def test_equal_segmentation_gives_evalb(data: st.DataObject) -> None:
    labels = ("S", "NP-SBJ", "NP", "PRT", "ADVP", "TOP")
    gold = data.draw(st.lists(trees(labels), min_size=1, max_size=4))
    predicted = []
    for tree in gold:  # brackets anew over the same words
        words = [Tree(tag.label, word=tag.word) for tag in tree.preterminals()]
        cut = data.draw(st.integers(0, len(words) - 1))
        inner = [*words[:cut], Tree(data.draw(st.sampled_from(labels)), words[cut:])]
        predicted.append(Tree("TOP", [Tree("S", inner)]))
    check_equal_to_evalb(gold, predicted)


def check_equal_to_evalb(gold: Sequence[Tree], predicted: Sequence[Tree]) -> None:
    sentences = [sentence for _, sentence in placed(*gold)]
    raw = score_raw([(placed(*gold), list(zip(predicted, sentences, strict=True)))])
    evalb = score_trees(gold, predicted)
    assert evalb.overall.errors == 0
    rows = [(c.matched, c.gold, c.test) for c in evalb.counts]
    assert raw.counts[:, 0].tolist() == [list(row) for row in rows]
    assert raw.counts[:, 1, 0].tolist() == [c.correct_tags for c in evalb.counts]
    assert raw.counts[:, 1, 1].tolist() == [c.words for c in evalb.counts]


@pytest.mark.corpus
@pytest.mark.parametrize("names", [("wsj-dev", "berkeley-sm5"), ("gum-dev", "berkeley-sm4")])
def test_equal_segmentation_gives_evalb_on_treebanks(
    read_trees: ReadAll, names: tuple[str, str], shared: Path
) -> None:
    corpus, parser = names
    golden = shared / "golden" / "evalb"
    gold, predicted = (
        read_trees((golden / f"{name}.mrg").read_text(encoding="utf-8"))
        for name in (f"{corpus}.gold", f"{corpus}.{parser}")
    )
    check_equal_to_evalb(gold, predicted)


def test_report(tree: Read) -> None:
    gold = placed(tree(CAT), tree(DOG))
    report = replace(score_raw([(gold, gold[:1])]), failures=1, seconds=0.5)
    flat = report.to_flat_dict()
    assert (flat["precision"], flat["recall"]) == (100, pytest.approx(100 * 3 / 7))
    assert (flat["tag_f1"], flat["token_recall"]) == (pytest.approx(100 * 6 / 11), 40)
    assert (flat["sentences"], flat["predicted_sentences"]) == (2, 1)
    assert (flat["tokens"], flat["predicted_tokens"], flat["failures"]) == (10, 4, 1)
    assert flat["sentences_per_second"] == 4
    assert flat["signature"] == f"RAW|prm:COLLINS|tags:gold|spans:characters|v:{__version__}"
    assert json.loads(json.dumps(flat)) == flat
    lines = report.to_table().splitlines()
    assert lines[0].split() == ["recall", "precision", "F1"]
    assert "brackets                42.86     100.00    60.00" in lines
    assert lines[-1] == flat["signature"]
    assert "sentences/s" not in replace(report, seconds=None).to_table()


def test_comparison(tree: Read) -> None:
    gold = placed(tree(CAT), tree(DOG))
    best, worse = score_raw([(gold, gold)]), score_raw([(gold, gold[:1])])
    assert best.compare(worse).delta == pytest.approx(40)
    other = RawReport(np.zeros((1, 4, 3), np.int64), 1)
    with pytest.raises(InputError, match="same sentences"):
        best.compare(other)
