"""Which sentence next: what sentences teach, and in which order they are taken."""

from __future__ import annotations

from math import log

import pytest
from spectralnlp_annotate.ordering import expected_errors, expected_gains, next_place

from spectralnlp import Tree
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees.parse import Constituent, Parse


def parse_of(words: list[str], posteriors: list[float]) -> Parse:
    tree = Tree("TOP", [Tree("S", [Tree("N", word=word) for word in words])])
    constituents = tuple(Constituent("S", 0, len(words), posterior) for posterior in posteriors)
    return Parse(
        tree, Sentence.from_words(words), log_probability=-1.0, constituents=constituents, fallback=None
    )


def gains_of(
    texts: list[str], known: set[str], posteriors: list[float] | None = None, **options: int
) -> list[float]:
    words = [text.split() for text in texts]
    doubts = posteriors or [1.0] * len(texts)
    return expected_gains(
        [parse_of(each, [doubt]) for each, doubt in zip(words, doubts, strict=True)], words, known, **options
    )


def test_expected_mistakes() -> None:
    assert expected_errors(parse_of(["a", "b"], [0.9, 0.75])) == pytest.approx(0.35)


def test_a_new_word_teaches_by_how_often_it_comes() -> None:
    found = gains_of(["the snjór", "the cat", "the wug", "the Wug"], {"the", "cat"})
    assert found[2] == pytest.approx(log(2) / 6)
    assert found[0] == found[1] == 0.0  # once in all of the text, and known


def test_what_one_sentence_teaches_another_does_not_teach_again() -> None:
    found = gains_of(["the wug", "a wug", "the zyx", "a a a zyx"], {"the", "a"})
    assert [at for at, gain in enumerate(found) if gain > 0] == [0, 2]  # the shorter one of each


def test_where_all_words_are_known_mistakes_decide() -> None:
    found = gains_of(["a b c", "a b c", "a b c"], {"a", "b", "c"}, [0.9, 0.2, 0.5])
    assert sorted(range(3), key=lambda at: -found[at]) == [1, 2, 0]


def test_gains_are_those_of_choosing_one_after_the_other() -> None:
    texts = ["wug zyx", "wug zyx quux", "quux", "zyx", "wug", "wug quux", "gull"]
    whole = gains_of(texts, set())
    ahead = gains_of(texts, set(), ahead=2)
    order, first = (sorted(range(len(texts)), key=lambda at: -each[at]) for each in (whole, ahead))
    assert order[:2] == first[:2]
    assert max(ahead[at] for at in first[2:]) <= ahead[first[1]]


def test_the_next_sentence() -> None:
    places = [(0, 0), (0, 1), (1, 0)]
    assert next_place(places, [], {}, (0, 0)) == (0, 1)
    assert next_place(places, [(0, 1)], {}, (0, 0)) == (1, 0)
    assert next_place(places, [], {(0, 0): 1.0, (1, 0): 2.0}, (0, 1)) == (1, 0)
    assert next_place(places, [(1, 0)], {(0, 0): 1.0, (1, 0): 2.0}, (0, 1)) == (0, 0)
    assert next_place(places, [(0, 0), (1, 0)], {}, (0, 1)) == (0, 1)
    assert next_place(places, places, {}, (0, 1)) is None
