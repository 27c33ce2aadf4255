"""Which entry of the lexicon a token has, and which tags that allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import reference

from spectralnlp.inference.trees.latent import leaf_vectors
from spectralnlp.inference.words.lexical import coarse_values, look_up
from spectralnlp.parameters import Lexicon

GRAMMAR = reference.random_grammar(0, (1, 1, 1, 1))
LEXICON = GRAMMAR.lexicon
S, X, T, U = range(4)
NO_TAGS: dict[str, Any] = {name: np.zeros(0) for name in ("starts", "tags", "offsets", "values")}


def values(words: list[str], allowed: list[list[int]] | None = None, *, any_tag: bool = False) -> np.ndarray:
    mask = None
    if allowed is not None:
        mask = np.array([[symbol in tags for symbol in range(4)] for tags in allowed])
    return coarse_values(GRAMMAR, reference.found_in(GRAMMAR, words), mask, any_tag=any_tag)


def lexicon_without_tags(**fields: Any) -> Lexicon:
    """A lexicon whose entries have no rows: words can be found, and no more."""
    return Lexicon(
        starts=np.zeros(1, np.int64),
        tags=np.zeros(0, np.int32),
        offsets=np.zeros(1, np.int64),
        values=np.zeros(0),
        **fields,
    )


def test_known_words_signatures_and_the_last_resort() -> None:
    lexicon = lexicon_without_tags(
        words=("the", "Who"),
        signatures=("LC", "CAPS", "UNKNOWN"),
        scheme="english",
        backoff=np.zeros(2),
        word_signature=np.array([0, 1], np.int32),
        log_weight=np.log([0.5, 0.25, 0.125, 0.0625, 0.03125]),
    )

    def sign(word: str, position: int, known: object) -> str:
        assert position == ["The", "the", "who", "Who", "#"].index(word) or word == "The"
        return {"#": "?"}.get(word, "CAPS" if word[0].isupper() else "LC")

    found = look_up(lexicon, ["The", "the", "who", "Who", "#"], sign)
    assert found.entries.tolist() == [0, 0, 2, 1, 4]
    assert found.signatures.tolist() == [2, 2, 2, 3, 4]
    assert found.log_weight == pytest.approx(np.log([0.5, 0.5, 0.125, 0.25, 0.03125]).sum())
    # Only the first word of a sentence is looked up in small letters.
    assert look_up(lexicon, ["who", "The"], lambda word, position, known: "CAPS").entries.tolist() == [3, 3]


@pytest.mark.parametrize(
    ("backoff", "cased", "found"),
    [
        (0.5, 0.01, 1),
        (0.01, 0.01, 0),
        (0.5, 0.2, 0),
    ],  # rare; frequent; rare, but commoner than in small letters
)
def test_a_rare_word_that_begins_a_sentence_may_be_the_one_in_small_letters(
    backoff: float, cased: float, found: int
) -> None:
    lexicon = lexicon_without_tags(
        words=("Visitors", "visitors"),
        signatures=("UNKNOWN",),
        scheme="neutral",
        backoff=np.array([backoff, 0.1]),
        word_signature=np.array([0, 0], np.int32),
        log_weight=np.log([cased, 0.1, 0.5]),
    )
    entries = look_up(lexicon, ["Visitors", "Visitors"], lambda *_: "UNKNOWN").entries.tolist()
    assert entries == [found, 0]


@pytest.mark.parametrize(("scheme", "found"), [("neutral", [0, 1]), ("english", [2, 2])])
def test_an_unknown_word_may_be_known_with_a_clitic_or_without(scheme: str, found: list[int]) -> None:
    lexicon = lexicon_without_tags(
        words=("land", "fjall$"),
        signatures=("UNKNOWN",),
        scheme=scheme,
        backoff=np.zeros(2),
        word_signature=np.zeros(2, np.int32),
        log_weight=np.zeros(3),
    )
    assert look_up(lexicon, ["land$", "fjall"], lambda *_: "UNKNOWN").entries.tolist() == found


def test_an_unknown_word_has_its_finest_known_signature() -> None:
    lexicon = lexicon_without_tags(
        words=(),
        signatures=("UNK-LC", "UNK-LC~s", "UNK-LC~ts", "UNKNOWN"),
        scheme="neutral",
        backoff=np.zeros(0),
        word_signature=np.zeros(0, np.int32),
        log_weight=np.zeros(4),
    )
    found = look_up(lexicon, ["cats", "dogs", "dog", "7"], lambda word, *_: "#" if word == "7" else "UNK-LC")
    assert found.entries.tolist() == [2, 1, 0, 3]


def test_a_word_has_its_own_tags_and_a_share_of_its_signatures() -> None:
    own, shared, by_signature = LEXICON.values[0], LEXICON.values[1], LEXICON.values[2:4]
    np.testing.assert_allclose(values(["p"])[0], [0, 0, own, 0])
    np.testing.assert_allclose(values(["q"])[0], [0, 0, 0.125 * by_signature[0], shared])
    np.testing.assert_allclose(values(["unheard-of"])[0], [0, 0, *by_signature])


def test_any_tag_adds_what_was_never_seen() -> None:
    found = values(["p"], any_tag=True)[0]
    assert found[T] == pytest.approx(LEXICON.values[0])
    assert 0 < found[U] < 1e-3
    assert found[[S, X]].tolist() == [0, 0]


def test_allowed_tags_rule_out_the_others() -> None:
    found = values(["q", "q"], [[T], [T, U]])
    assert found[0, T] > 0
    assert found[0, U] == 0
    assert (found[1, [T, U]] > 0).all()


def test_a_tag_that_a_word_never_had_is_believed() -> None:
    assert values(["p"], [[U]])[0].tolist() == [0, 0, 0, GRAMMAR.tag_default[U]]


def test_leaf_vectors_are_the_words_vectors() -> None:
    fine = reference.random_grammar(1, (2, 3, 2, 4))
    forest = reference.full_forest(GRAMMAR, ["q", "q"])
    assert forest is not None
    found = reference.found_in(fine, ["q", "q"])
    leaves = leaf_vectors(forest, fine, found)
    vectors = {T: 0.125 * fine.lexicon.values[6:8], U: fine.lexicon.values[2:6]}
    lexical = forest.symbol[forest.kind == 2].tolist()
    np.testing.assert_allclose(leaves, np.concatenate([vectors[tag] for tag in lexical]))
