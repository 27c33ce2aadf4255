"""Scores of tags: counts by hand, F1 as seqeval gives it, and tests between two taggers."""

from __future__ import annotations

import numpy as np
import pytest

from spectralnlp.errors import InputError
from spectralnlp.scoring.tagging import TagReport, compare_tags, score_tags
from spectralnlp.text.spans import Scheme, scheme_of

Tags = list[list[str]]

GOLD = [
    "B-PER I-PER O B-LOC O",
    "B-LOC O O B-PER",
    "O O",
    "B-ORG I-ORG I-ORG O B-PER",
    "I-PER O B-PER I-LOC",
]
FOUND = [
    "B-PER I-PER O B-ORG O",
    "B-LOC I-LOC O B-PER",
    "O B-LOC",
    "B-ORG I-ORG O O B-PER",
    "B-PER O B-PER B-LOC",
]


def split(lines: list[str]) -> Tags:
    return [line.split() for line in lines]


def score(gold: Tags, found: Tags, known: set[str] | None = None) -> TagReport:
    """A report of words ``w0``, ``w1`` …; all tags that were found can be given."""
    scheme: Scheme = scheme_of(tag for tags in gold + found for tag in tags)
    sentences = [([f"w{i}" for i in range(len(tags))], tags) for tags in gold]
    labels = {tag for tags in found for tag in tags}
    return score_tags(sentences, found, known=known or {"w0"}, labels=labels, scheme=scheme)


def test_accuracy_of_all_and_of_unknown_words() -> None:
    report = score(split(["N V N", "N X"]), split(["N V V", "V N"]), known={"w0", "w2"})
    assert report.accuracy == pytest.approx(100 * 2 / 5)
    assert report.accuracy_unknown == pytest.approx(100 * 1 / 2)
    assert report.new_tags == {"X": 1}
    assert report.counts.tolist() == [[3, 2, 1, 1, 0, 0, 0], [2, 0, 1, 0, 0, 0, 0]]
    flat = report.to_flat_dict()
    assert (flat["words"], flat["unknown"], flat["sentences"], flat["new_tags"]) == (5, 2, 2, 1)
    assert "f1" not in flat
    assert "X (1)" in report.to_table()


def test_spans_count_as_in_seqeval() -> None:
    report = score(split(GOLD), split(FOUND))
    # seqeval 1.2.2: precision_score, recall_score, f1_score of these lists, and its spans of each sentence
    assert report.precision == pytest.approx(60.0)
    assert report.recall == pytest.approx(66.66666666666667)
    assert report.f1 == pytest.approx(63.1578947368421)
    assert report.counts[:, 4:].tolist() == [[2, 2, 1], [2, 2, 1], [0, 1, 0], [2, 2, 1], [3, 3, 3]]
    flat = report.to_flat_dict()
    assert (flat["f1"], flat["precision"], flat["recall"]) == (report.f1, report.precision, report.recall)
    assert flat["spans"] == 9


def test_gold_tags_out_of_place_are_told_and_count() -> None:
    report = score(split(["O I-PER I-PER", "I-LOC O B-PER"]), split(["O B-PER I-PER", "B-LOC O B-PER"]))
    assert report.invalid == 2
    assert report.f1 == 100.0
    assert report.accuracy == pytest.approx(100 * 4 / 6)
    assert "2, read as the start of a span" in report.to_table()
    assert report.to_flat_dict()["invalid"] == 2


def test_nothing_found_and_nothing_to_find() -> None:
    nothing = score(split(["O O"]), split(["O B-X"]))
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)
    assert score(split(["B-X"]), split(["O"])).f1 == 0.0
    assert score(split(["N"]), split(["N"]), known={"w0"}).accuracy_unknown == 0.0
    with pytest.raises(InputError, match="no words to evaluate on"):
        score([[]], [[]])


def test_the_signature_says_how() -> None:
    assert score(split(GOLD), split(FOUND)).signature.startswith("TAGS|spans:conlleval|scheme:bio|unknown:")
    assert "spans" not in score(split(["N"]), split(["N"])).signature


def test_words_a_second() -> None:
    report = score_tags(
        [(["a"] * 10, ["N"] * 10)], [["N"] * 10], known=(), labels="N", scheme="tags", seconds=0.5
    )
    assert report.to_flat_dict()["words_per_second"] == pytest.approx(20)
    assert "words/s" in report.to_table()


def test_two_taggers_of_the_same_sentences() -> None:
    rng = np.random.default_rng(0)
    gold = [["N"] * 8 for _ in range(60)]
    good, bad = ([["N" if x < p else "V" for x in rng.random(8)] for _ in gold] for p in (0.95, 0.6))
    better = compare_tags(score(gold, good), score(gold, bad))
    assert better.metric == "accuracy"
    assert better.delta == pytest.approx(score(gold, good).accuracy - score(gold, bad).accuracy)
    assert better.p_value < 0.001
    assert better.interval[0] > 0
    assert "accuracy_delta" in better.to_flat_dict()
    same = compare_tags(score(gold, good), score(gold, good))
    assert (same.delta, same.p_value) == (0.0, 1.0)


def test_spans_are_compared_by_f1() -> None:
    gold, found = split(GOLD), split(FOUND)
    comparison = compare_tags(score(gold, found), score(gold, gold))
    assert comparison.metric == "f1"
    assert (comparison.score_a, comparison.score_b) == (pytest.approx(63.1578947), 100.0)


def test_only_the_same_sentences_compare() -> None:
    one, two = score(split(["N V"]), split(["N V"])), score(split(["N", "V"]), split(["N", "V"]))
    for other in (two, score(split(["N"]), split(["N"]))):
        with pytest.raises(InputError, match="on the same sentences"):
            compare_tags(one, other)
    spans = score(split(["B-X O"]), split(["B-X O"]))
    for pair in ((one, spans), (spans, one)):
        with pytest.raises(InputError, match="spans"):
            compare_tags(*pair)
