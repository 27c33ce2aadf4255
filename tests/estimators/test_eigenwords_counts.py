"""Counting words and pairs, against a few lines of plain Python."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.eigenwords import Ngrams, PairCounts
from spectralnlp.estimators.eigenwords.kernels import ID_BITS
from spectralnlp.inference.words.kernels import hash_word
from spectralnlp.inference.words.spelling import as_bytes, features_of
from spectralnlp.runtime import Batch
from spectralnlp.text.ngrams import read_ngrams

SENTENCES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "Éa", "the"]), max_size=9), max_size=9)


def reference(sentences: list[list[str]], window: int) -> Counter[tuple[int, str, str]]:
    pairs: Counter[tuple[int, str, str]] = Counter()
    for sentence in sentences:
        words = ["", *(word.lower() for word in sentence), ""]
        if len(words) == 2:
            continue
        for i, left in enumerate(words):
            for distance in range(1, window + 1):
                if i + distance < len(words) and (left or words[i + distance]):
                    pairs[distance, left, words[i + distance]] += 1
    return pairs


def table(counts: PairCounts) -> Counter[tuple[int, str, str]]:
    keys, values = counts.pairs.sorted()
    mask = (1 << ID_BITS) - 1
    decoded = zip(
        (keys >> 58).tolist(), (keys >> ID_BITS & mask).tolist(), (keys & mask).tolist(), strict=True
    )
    named = [(d, *counts.names(np.array([left, right]))) for d, left, right in decoded]
    return Counter(dict(zip(named, values.tolist(), strict=True)))


def counted(examples: list[object], **options: int) -> PairCounts:
    counts = PairCounts(**options)  # type: ignore[arg-type]
    counts.observe(Batch(examples, "memory", 0, 0))  # type: ignore[arg-type]
    return counts


@given(sentences=SENTENCES, window=st.integers(1, 4))
def test_pairs_are_those_of_the_definition(sentences: list[list[str]], window: int) -> None:
    expected = reference(sentences, window)
    assert table(counted(list(sentences), window=window)) == expected
    lines = "\n".join(" ".join(sentence) for sentence in sentences)
    assert table(counted([lines], window=window)) == expected


def test_blanks_of_all_kinds_and_empty_lines() -> None:
    counts = counted(["  a\tb \r\n\n\n c", "", "d"])
    assert counts.words.counts[0] == 3
    assert counts.n_tokens == 4
    assert (1, "a", "b") in table(counts)
    assert (1, "b", "c") not in table(counts)


def test_a_lone_surrogate_is_a_question_mark() -> None:
    assert table(counted(["a \udce9"]))[1, "a", "?"] == 1


def test_many_words_grow_every_table() -> None:
    words = [f"w{i}" for i in range(30_000)]
    counts = counted([" ".join(words)], window=1)
    assert counts.words.n_words == 30_001
    assert len(counts.pairs) == 30_001
    assert counts.names(np.array([1, 30_000])) == ["w0", "w29999"]


def test_n_grams_count_as_the_text_that_they_come_from(tmp_path: Path) -> None:
    text = ["a", "b", "c", "a", "b", "d", "a", "b"]
    trigrams = Counter(zip(text, text[1:], text[2:], strict=False))
    path = tmp_path / "trigrams.txt"
    path.write_text("".join(f"{' '.join(gram)}\t{count}\n" for gram, count in trigrams.items()))
    counts = counted(list(read_ngrams(path)))
    # The last bigram begins no trigram.
    expected = {key: n for key, n in reference([text], 2).items() if key[1] and key[2]}
    expected[1, "a", "b"] -= 1
    assert table(counts) == expected
    assert counts.names(np.flatnonzero(counts.words.counts)) == ["a", "b", "c", "d"]


def test_bigram_counts_equal_the_text() -> None:
    text = ["the", "cat", "the", "cat", "sat"]
    pairs = Counter(itertools.pairwise(text))
    grams = Ngrams(list(pairs), np.array(list(pairs.values())))
    ours = table(counted([grams], window=1))
    assert ours == {key: n for key, n in reference([text], 1).items() if key[1] and key[2]}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("a b 3", "1 columns"),
        ("a b\tmany", "'many' is not a count"),
        ("a b\t-1", "'-1' is not a count"),
        ("a\t3", "an n-gram of 1 words"),
        ("a b c\t3", "an n-gram of 3 words after one of 2"),
    ],
)
def test_bad_n_grams_are_refused_with_their_line(tmp_path: Path, line: str, complaint: str) -> None:
    path = tmp_path / "grams.txt"
    path.write_text(f"x y\t1\n{line}\n")
    with pytest.raises(InputError, match=f":2: {complaint}"):
        list(read_ngrams(path))
    skipped: list[InputError] = []
    assert len(next(read_ngrams(path, skipped.append)).words) == 1
    assert len(skipped) == 1


def test_blanks_in_the_words_of_n_grams_are_refused_and_control_characters_kept(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="blank"):
        counted([Ngrams([("a b", "c")], np.array([1]))])
    path = tmp_path / "grams.txt"
    path.write_text("a\x01b c\t2\n")
    assert table(counted(list(read_ngrams(path))))[1, "a\x01b", "c"] == 2


def test_google_books_lines(tmp_path: Path) -> None:
    path = tmp_path / "books.txt"
    path.write_text("a b\t1990\t3\t2\na b\t1991\t4\t2\n")
    assert table(counted(list(read_ngrams(path))))[1, "a", "b"] == 7


def test_what_was_not_counted_cannot_be_taken_out() -> None:
    counts = counted(["a b", "b a"])
    for line in ("a c", "a a", "a b a b a b"):
        with pytest.raises(InputError, match="not added"):
            counts.subtract(counted([line]))
    counts.subtract(counted(["b a"]))
    assert table(counts) == table(counted(["a b"]))


@pytest.mark.parametrize("window", [0, 32])
def test_senseless_windows_are_refused(window: int) -> None:
    with pytest.raises(ConfigError):
        PairCounts(window)


def test_spelling_features_are_letters_not_bytes() -> None:
    """There are as many features for words of as many letters, in one alphabet or another."""
    features = features_of(["abcdef", "привет", "日本", "", "a"], bits=20)
    per_word = np.diff(features.rows).tolist()
    assert per_word[0] == per_word[1] == 4 + 4 + 5 + 2  # prefixes, trigrams, suffixes, shape and length
    assert per_word[2:] == [2 + 0 + 2 + 2, 2, 1 + 0 + 1 + 2]
    shared = set(features_of(["running"]).columns) & set(features_of(["jumping"]).columns)
    assert len(shared) >= 5  # g, ng, ing and the rest of the ending, the shape and the length


def hashed(text: bytes) -> int:
    """FNV-1a, its halves mixed, in Python's integers."""
    value = 0xCBF29CE484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    value = (value ^ value >> 32) * 0x9E3779B97F4A7C15 % 2**64
    return value ^ value >> 32


def shape(word: str) -> bytes:
    classes = [
        5 if c > "\x7f" else 3 if c.isdigit() else 1 if c.isupper() else 2 if c.islower() else 4 for c in word
    ]
    return bytes(c for c, before in zip(classes, [0, *classes], strict=False) if c != before)


@pytest.mark.parametrize("word", ["Unhappily", "x-92", "naïve", "日本語", "a", "", "A" * 40 + "b1" * 12])
def test_spelling_features_are_those_of_the_definition(word: str) -> None:
    n = len(word)
    pieces = [(1, word[:k].encode()) for k in range(1, min(n, 4) + 1)]
    pieces += [(2, word[i : i + 3].encode()) for i in range(n - 2)]
    pieces += [(3, word[-k:].encode()) for k in range(1, min(n, 5) + 1)]
    pieces += [(4, shape(word)[:15]), (5, bytes([min(n, 12)]))]
    expected = [
        ((hashed(piece) + kind) * 0x9E3779B97F4A7C15 % 2**64 >> 32 >> 1) % 2**18 for kind, piece in pieces
    ]
    assert sorted(features_of([word], bits=18).columns.tolist()) == sorted(expected)


def test_hashes_are_those_of_the_definition() -> None:
    for word in ("a", "cat", "日本"):
        text = as_bytes(word.encode())
        assert int(hash_word(text, 0, len(text))) == hashed(word.encode())
