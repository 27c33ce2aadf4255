"""The lexicon's tags and vectors of words: known, rare, unknown, at the beginning of a sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from exact_options import UNSMOOTHED

from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.lexicon import LexiconMaker, LexiconOptions, TokenCounts
from spectralnlp.inference.words.lexical import look_up
from spectralnlp.parameters import Lexicon
from spectralnlp.text.signatures import english_signature

D, N, V = range(3)
COUNTS = {
    ("the", D): 40,
    ("The", D): 8,
    ("saw", V): 6,
    ("saw", N): 3,
    ("cat", N): 9,
    ("running", V): 1,
    ("jumping", V): 1,
    ("ring", N): 1,
    ("Paris", N): 2,
    ("cats", N): 2,
}
INITIAL = {("The", D): 8, ("Paris", N): 1}
N_STATES = np.array([1, 2, 1], np.int32)
USUAL = LexiconOptions(
    scheme="english",
    rare=settings.RARE,
    keep_rare_words=settings.KEEP_RARE_WORDS,
    tag_weight=settings.TAG_WEIGHT,
)


def moments() -> tuple[TokenCounts, np.ndarray]:
    words = sorted({word for word, _ in COUNTS})
    rows = sorted(((words.index(word), tag) for word, tag in COUNTS))
    keys = [(words[word], tag) for word, tag in rows]
    count = np.array([float(COUNTS[key]) for key in keys])
    z = np.stack([count, np.where([tag == N for _, tag in keys], count * np.arange(len(keys)), 0)], axis=1)
    tokens = TokenCounts(
        words,
        np.array([word for word, _ in rows], np.int32),
        np.array([tag for _, tag in rows], np.int32),
        count,
        np.array([float(INITIAL.get(key, 0)) for key in keys]),
    )
    return tokens, z


def built(**changes: object) -> tuple[Lexicon, np.ndarray]:
    return made(replace(USUAL, **changes))  # type: ignore[arg-type]


def made(options: LexiconOptions) -> tuple[Lexicon, np.ndarray]:
    tokens, z = moments()
    return LexiconMaker(tokens, options).make(N_STATES, z)


def rows(lexicon: Lexicon, entry: int) -> dict[int, np.ndarray]:
    found = {}
    for row in range(lexicon.starts[entry], lexicon.starts[entry + 1]):
        found[int(lexicon.tags[row])] = lexicon.values[lexicon.offsets[row] : lexicon.offsets[row + 1]]
    return found


def p_tag() -> np.ndarray:
    tokens, _ = moments()
    return np.bincount(tokens.tag, tokens.count) / tokens.count.sum()


def p_tag_given(lexicon: Lexicon, entry: int) -> dict[int, float]:
    """p(tag | entry): Z begins with a 1 at every token, so a vector begins with p(tag | word) / p(tag)."""
    return {tag: float(vector[0] * p_tag()[tag]) for tag, vector in rows(lexicon, entry).items()}


def entry_of(lexicon: Lexicon, words: list[str]) -> list[int]:
    return look_up(lexicon, words, english_signature).entries.tolist()


def test_a_frequent_word_has_the_tags_it_was_seen_with() -> None:
    lexicon, _ = built()
    entry = lexicon.word_index["the"]
    assert p_tag_given(lexicon, entry) == pytest.approx({D: 1.0})
    assert lexicon.backoff[entry] == 0


def test_the_shares_of_tags_add_up_to_one() -> None:
    lexicon, _ = built()
    for entry, word in enumerate(lexicon.words):
        own = p_tag_given(lexicon, entry)
        by_signature = p_tag_given(lexicon, len(lexicon.words) + int(lexicon.word_signature[entry]))
        rest = lexicon.backoff[entry] * sum(p for tag, p in by_signature.items() if tag not in own)
        assert sum(own.values()) + rest == pytest.approx(1), word
    for entry in range(len(lexicon.words), len(lexicon.words) + len(lexicon.signatures)):
        assert sum(p_tag_given(lexicon, entry).values()) == pytest.approx(1)


def test_rare_words_are_shrunk_toward_their_signature_frequent_ones_hardly() -> None:
    lexicon, _ = built()
    raw, _ = made(UNSMOOTHED)
    saw = lexicon.word_index["saw"]
    assert p_tag_given(raw, saw) == pytest.approx({N: 3 / 9, V: 6 / 9})
    assert p_tag_given(lexicon, saw) == pytest.approx({N: 3 / 9, V: 6 / 9}, abs=0.05)
    running, cats = lexicon.word_index["running"], lexicon.word_index["cats"]
    assert p_tag_given(lexicon, running)[V] < p_tag_given(raw, running)[V] == pytest.approx(1)
    assert lexicon.backoff[running] > lexicon.backoff[cats] > 0


def test_unknown_words_behave_like_rare_ones_of_their_look() -> None:
    lexicon, _ = built()
    (ing,) = entry_of(lexicon, ["sleeping"])
    (plural,) = entry_of(lexicon, ["dogs"])
    assert lexicon.signatures[ing - len(lexicon.words)] == "UNK-LC-ing"
    assert p_tag_given(lexicon, ing)[V] > p_tag_given(lexicon, plural)[V]
    assert p_tag_given(lexicon, plural)[N] > 0.5
    (strange,) = entry_of(lexicon, ["☃"])
    assert lexicon.signatures[strange - len(lexicon.words)] == "UNKNOWN"


def test_signatures_back_off_to_shorter_endings() -> None:
    lexicon, _ = built(ending_words=1)

    def found(word: str) -> tuple[str, dict[int, float]]:
        (entry,) = entry_of(lexicon, [word])
        return lexicon.signatures[entry - len(lexicon.words)], p_tag_given(lexicon, entry)

    names, shares = zip(*(found(word) for word in ("dumping", "sleeping", "loving", "bag")), strict=True)
    assert names == ("UNK-LC-ing~mping", "UNK-LC-ing~ping", "UNK-LC-ing~ing", "UNK-LC~g")
    verb = [share[V] for share in shares]
    assert verb == sorted(verb, reverse=True)
    assert len(set(verb)) == 4
    assert {"UNK-LC-ing", "UNK-LC-s"} < set(built(ending_words=3)[0].signatures)
    assert not any("~" in name for name in built(ending_words=3)[0].signatures)


def test_p_tag_of_a_signature_is_shrunk_along_its_chain() -> None:
    lexicon, _ = built(ending_words=2, signature_prior=3.0, least_tag=0.0)
    # Words seen at most twice have five tokens N and two V. In endings, each word has one vote.
    last = np.array([0, 5, 2]) / 7
    ing = (np.array([0, 0, 2]) + 3 * last) / 5
    for _ in "gni":
        ing = (np.array([0, 0, 2]) + 3 * ing) / 5
    (entry,) = entry_of(lexicon, ["loving"])
    assert lexicon.signatures[entry - len(lexicon.words)] == "UNK-LC-ing~ing"
    assert p_tag_given(lexicon, entry) == pytest.approx({N: ing[N], V: ing[V]})


def test_vectors_of_a_signature_are_shrunk_along_its_chain() -> None:
    lexicon, _ = built(ending_words=9, signature_state_prior=3.0, tag_weight=0.0)
    tokens, z_sums = moments()
    rare = {"ring": 1, "Paris": 2, "cats": 2}
    z = {w: z_sums[tokens.word == tokens.words.index(w)][0] / n for w, n in rare.items()}
    last = sum(z.values()) / 3
    (entry,) = entry_of(lexicon, ["dogs"])
    vector = rows(lexicon, entry)[N]
    np.testing.assert_allclose(vector / vector[0], (z["cats"] + 3 * last) / 4)


def test_improbable_tags_are_left_out_of_signatures() -> None:
    lexicon, _ = built(ending_words=1, least_tag=0.3)
    (entry,) = entry_of(lexicon, ["dumping"])
    assert p_tag_given(lexicon, entry) == pytest.approx({V: 1.0})
    assert all(
        rows(built(least_tag=1.0)[0], entry) for entry in range(len(lexicon.words), len(lexicon.words) + 4)
    )


def test_the_first_word_is_also_looked_up_in_small_letters() -> None:
    lexicon, _ = built()
    the, cat = lexicon.word_index["the"], lexicon.word_index["cat"]
    assert entry_of(lexicon, ["Cat", "Cat"])[0] == cat
    assert entry_of(lexicon, ["Cat", "Cat"])[1] >= len(lexicon.words)
    assert entry_of(lexicon, ["The"]) == [lexicon.word_index["The"]]
    assert entry_of(lexicon, ["THE"]) == [the]


def test_unsmoothed_probabilities_of_words_add_up_to_one() -> None:
    lexicon, _ = made(UNSMOOTHED)
    sums = np.zeros(3)
    for entry in range(len(lexicon.words)):
        for tag, vector in rows(lexicon, entry).items():
            sums[tag] += vector[0] * np.exp(lexicon.log_weight[entry])
    np.testing.assert_allclose(sums, 1)


def test_vectors_of_a_word_are_its_mean_z_smoothed_step_by_step() -> None:
    raw, default = made(UNSMOOTHED)
    tokens, z_sums = moments()
    is_cat = (np.array(tokens.words)[tokens.word] == "cat") & (tokens.tag == N)
    own = (z_sums[is_cat] / tokens.count[is_cat, None])[0]
    mean = z_sums[tokens.tag == N].sum(0) / tokens.count[tokens.tag == N].sum()
    np.testing.assert_allclose(default[1:3], mean)
    vector = rows(raw, raw.word_index["cat"])[N]
    np.testing.assert_allclose(vector, own / p_tag()[N])
    mixed, _ = made(replace(UNSMOOTHED, tag_weight=0.25))
    np.testing.assert_allclose(
        rows(mixed, mixed.word_index["cat"])[N], (0.75 * own + 0.25 * mean) / p_tag()[N]
    )


def test_rare_words_can_be_left_out() -> None:
    lexicon, _ = built(keep_rare_words=False)
    assert set(lexicon.words) == {"the", "The", "saw", "cat"}
    assert lexicon.signatures[entry_of(lexicon, ["running"])[0] - len(lexicon.words)] == "UNK-LC-ing"
    assert len(lexicon.log_weight) == len(lexicon.words) + len(lexicon.signatures)


@pytest.mark.parametrize(
    "changed",
    [
        {"rare": 1},
        {"rarest": 1},
        {"frequent": 5},
        {"word_prior": 2.0},
        {"signature_prior": 9.0},
        {"state_prior": 9.0},
        {"signature_state_prior": 0.1},
        {"ending_words": 1},
        {"least_tag": 0.3},
        {"tag_weight": 0.9},
        {"keep_rare_words": False},
    ],
    ids=str,
)
def test_every_option_does_something(changed: dict[str, object]) -> None:
    def state(lexicon: Lexicon) -> tuple[object, ...]:
        arrays = (lexicon.values, lexicon.backoff, lexicon.log_weight)
        return (lexicon.words, *(array.tobytes() for array in arrays))

    assert state(built(**changed)[0]) != state(built()[0])
