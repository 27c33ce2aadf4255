"""Hashed n-grams: which there are, where they go, and what they weigh."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from spectralnlp_sketch import HashedNgrams
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.frequencies import DocumentFrequencies
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams, spaced_words

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Batch

TEXTS = [
    "Book a table, please!",
    "a table for two at 7pm",
    "",
    "naïve café — façade",
    "a a a a",
    "नमस्ते दुनिया",
]


def fnv1a(raw: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in raw:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def column(kind: str, ngram: str, n_columns: int) -> int:
    """The published rule, letter by letter."""
    value = fnv1a((kind + ngram).encode())
    half = n_columns // 2
    return ((value ^ value >> 32) & (half - 1)) + (half if kind == "c" else 0)


def reference(text: str, form: NgramFormat) -> Counter[int]:
    text = text.lower()
    found: Counter[int] = Counter()
    words = spaced_words([text])[0].split()
    assert form.words is not None
    assert form.characters is not None
    for n in range(form.words[0], form.words[1] + 1):
        found.update(
            column("w", " ".join(words[i : i + n]), form.n_columns) for i in range(len(words) - n + 1)
        )
    for piece in text.split():
        padded = f" {piece} "
        for n in range(form.characters[0], form.characters[1] + 1):
            found.update(column("c", padded[i : i + n], form.n_columns) for i in range(len(padded) - n + 1))
    return found


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), min_size=1, max_size=4))
def test_counts_are_those_of_the_rule(texts: list[str]) -> None:
    form = NgramFormat((1, 3), (2, 5), 2**12)
    counts = count_ngrams(texts, form)
    for text, row in zip(texts, counts, strict=True):
        assert dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)) == dict(reference(text, form))


def test_words_are_runs_of_letters_digits_and_marks() -> None:
    assert [line.split() for line in spaced_words(TEXTS)] == [
        ["book", "a", "table", "please"],
        ["a", "table", "for", "two", "at", "7pm"],
        [],
        ["naïve", "café", "façade"],
        ["a"] * 4,
        ["नमस्ते", "दुनिया"],
    ]


def test_columns_never_change() -> None:
    """A stored model is worth nothing if they do."""
    assert fnv1a(b"foobar") == 0x85944171F73967E8  # as published with the hash
    counts = count_ngrams(["Réserver: a table"], NgramFormat((1, 2), (3, 3), 2**16))
    expected = """
        20827 21443 21699 25746 32370 36727 40317 40341 42689 42779 43746 44384 45355 45498
        47366 50771 53533 55511 56697 59355
    """
    assert counts.indices.tolist() == [int(each) for each in expected.split()]


@pytest.mark.slow
def test_columns_are_the_same_in_another_process() -> None:
    code = (
        "from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams\n"
        "print(count_ngrams(['hash me, please'], NgramFormat()).indices.tolist())"
    )
    env = {**os.environ, "PYTHONHASHSEED": "1"}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert found.stdout == f"{count_ngrams(['hash me, please'], NgramFormat()).indices.tolist()}\n"


def test_tfidf_is_that_of_scikit_learn() -> None:
    texts = [text for text in TEXTS if text]
    ours = HashedNgrams(words=(1, 2), characters=None, n_features=2**20).fit_transform(texts)
    peer = TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        tokenizer=lambda t: spaced_words([t])[0].split(),
        token_pattern=None,
    )
    theirs = peer.fit_transform(texts)
    np.testing.assert_allclose((ours @ ours.T).toarray(), (theirs @ theirs.T).toarray(), atol=1e-6)


def test_characters_are_those_of_scikit_learn_where_words_are_long() -> None:
    texts = ["please book tables", "booking a table"]
    ours = HashedNgrams(
        words=None, characters=(2, 3), n_features=2**20, weighting="counts", norm=False
    ).transform(texts)
    theirs = CountVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(texts)
    assert (ours @ ours.T).toarray().tolist() == (theirs @ theirs.T).toarray().tolist()


def test_weightings() -> None:
    counts = HashedNgrams(
        words=(1, 1), characters=None, n_features=2**10, weighting="counts", norm=False
    ).transform(["a a b", ""])
    assert sorted(counts.data.tolist()) == [1, 2]
    assert counts.indices.dtype == counts.indptr.dtype == np.int32  # some of scikit-learn takes no other
    binary = HashedNgrams(
        words=(1, 1), characters=None, n_features=2**10, weighting="binary", norm=False
    ).transform(["a a b"])
    assert binary.data.tolist() == [1, 1]
    both = HashedNgrams(words=(1, 2), characters=(2, 3), n_features=2**20).fit_transform(["book a table"])
    assert both.power(2).sum() == pytest.approx(2)  # each kind has length 1


def test_streaming_gives_the_same_as_all_at_once() -> None:
    at_once = HashedNgrams(n_features=2**12).fit(TEXTS)
    streamed = HashedNgrams(n_features=2**12)
    for text in TEXTS:
        streamed.partial_fit([text])
    assert (at_once.transform(TEXTS) != streamed.transform(TEXTS)).nnz == 0
    streamed.frequencies_.subtract(_frequencies(TEXTS[:2]))
    rest = HashedNgrams(n_features=2**12).fit(TEXTS[2:])
    assert (rest.transform(TEXTS) != streamed.transform(TEXTS)).nnz == 0


def _frequencies(texts: list[str]) -> DocumentFrequencies:
    moments = DocumentFrequencies(2**12, (1, 3), (2, 5))
    moments.observe(Batch(texts, "", 0, 0))
    return moments


def test_a_text_of_a_million_characters() -> None:
    row = HashedNgrams(words=(1, 2), characters=None, weighting="counts", norm=False).transform(
        ["alpha beta " * 100_000]
    )
    assert row.data.max() == 100_000


def test_a_lone_surrogate_is_no_error() -> None:
    assert HashedNgrams(weighting="counts").transform(["bad \udc80 byte"]).nnz


@pytest.mark.parametrize(
    "settings",
    [
        {"n_features": 1000},
        {"words": (2, 1)},
        {"words": None, "characters": None},
        {"weighting": "tf"},
        {"words": (1, 2, 3)},
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        HashedNgrams(**settings).fit(TEXTS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("texts", "message"), [("one text", "list of texts"), (["a", 3], "text 2 is int"), ([], "no texts")]
)
def test_what_is_no_list_of_texts(texts: object, message: str) -> None:
    with pytest.raises(TextError, match=message):
        HashedNgrams().fit(texts)  # type: ignore[arg-type]
