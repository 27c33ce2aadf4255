"""Directions that the sentences of a text agree on, beside what their definition says."""

from __future__ import annotations

import numpy as np
import pytest
from spectralnlp_sketch import IntentClassifier
from spectralnlp_sketch.hashing.ngrams import NgramFormat, Ngrams, count_ngrams
from spectralnlp_sketch.intent import agreement, prior
from spectralnlp_sketch.intent.agreement import (
    POWER,
    RIDGE,
    have_sentences,
    most_agreed,
    sentence_directions,
    sentences_of,
)

FORM = NgramFormat((1, 1), None, 2**12)
MOODS = (("bright", "warm", "calm"), ("grey", "cold", "rough"))
NOUNS = ("sea", "quay", "deck", "mast", "sail", "port", "rope", "crew")


def letters(n: int) -> list[str]:
    """Letters from the coast: each has one mood, and every sentence a subject of its own."""
    rng = np.random.default_rng(0)
    return [
        " ".join(
            f"The {rng.choice(NOUNS)} was {rng.choice(MOODS[i % 2])} at the {rng.choice(NOUNS)}."
            for _ in range(5)
        )
        for i in range(n)
    ]


def test_sentences_end_at_stops_and_lines() -> None:
    assert sentences_of("It rains. Is it 3.5 miles?  Yes!\nBye … so\n\n") == [
        "It rains.",
        "Is it 3.5 miles?",
        "Yes!",
        "Bye …",
        "so",
    ]
    assert sentences_of("天気。海。") == ["天気。", "海。"]
    assert sentences_of(" \n ") == []


def test_independent_axes_are_found_by_their_share() -> None:
    total, single = np.diag([4.0, 2.0, 1.0, 1.0]), np.diag([3.0, 0.5, 0.1, 2.0])
    variances = np.diag(total) + RIDGE * 2.0
    shares = (np.diag(total) - np.diag(single)) / variances
    order = [2, 1, 0]  # the last is negative
    wanted = np.zeros((4, 3))
    wanted[order, range(3)] = shares[order] ** POWER / np.sqrt(variances[order])
    np.testing.assert_allclose(most_agreed(total, single), wanted, atol=1e-12)


def test_covariances_are_those_of_centred_texts_and_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "_BATCH", 3)
    texts = [*letters(7), "The sea."]
    columns = np.unique(count_ngrams(texts, FORM).indices)
    idf = np.linspace(1.0, 2.0, len(columns)).astype(np.float32)
    vectors = np.random.default_rng(1).normal(size=(len(columns), 3)).astype(np.float32)
    total, single = agreement._covariances(agreement.part_rows(texts, columns, idf, FORM), vectors)
    of_texts, of_sentences = [], []
    for text in texts:
        present = (count_ngrams(sentences_of(text), FORM).toarray()[:, columns] > 0) * idf
        rows = present / np.linalg.norm(present.sum(axis=0)) @ vectors
        of_sentences.append(rows)
        of_texts.append(rows.sum(axis=0))
    mean = np.mean(of_texts, axis=0)
    wanted_single = np.zeros((3, 3))
    for rows in of_sentences:
        centred = rows - mean / len(rows)
        wanted_single += centred.T @ centred
    centred = np.array(of_texts) - mean
    np.testing.assert_allclose(total, centred.T @ centred, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(single, wanted_single, rtol=1e-4, atol=1e-5)


def test_the_first_direction_is_the_mood(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "TEXTS_A_VECTOR", 10)
    texts = letters(200)
    counts = count_ngrams(texts, FORM)
    ngrams = Ngrams.learn(counts, FORM, 1, np.array([], int))
    rows = ngrams.rows(counts)
    found = sentence_directions(texts, rows, ngrams.columns, ngrams.idf, FORM, 2, 0)
    assert found.shape == (len(ngrams.columns), 2)
    projected = rows @ found[:, 0]
    bright, grey = projected[::2], projected[1::2]
    assert max(bright.min(), grey.min()) > min(bright.max(), grey.max())  # they do not overlap
    first, second = np.linalg.norm(found, axis=0)
    assert second < 0.1 * first


def test_directions_of_sentences_join_where_there_are_texts_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = letters(60)
    assert not have_sentences(texts)
    sizes = {"EIGENWORD_DIMENSIONS": 4, "SENTENCE_DIMENSIONS": 3, "MIN_WORDS": 0}
    for name, size in sizes.items():
        monkeypatch.setattr(prior, name, size)
    model = IntentClassifier(characters=None)
    assert model.learn_prior(texts)[0].projection.shape[1] == 4
    monkeypatch.setattr(agreement, "MIN_TEXTS", 50)
    monkeypatch.setattr(agreement, "TEXTS_A_VECTOR", 5)
    assert have_sentences(texts)
    assert not have_sentences([text.partition(".")[0] for text in texts])
    assert model.learn_prior(texts)[0].projection.shape[1] == 3 + 4
    monkeypatch.setattr(prior, "ENOUGH_TEXTS", 60)
    assert model.learn_prior(texts)[0].projection.shape[1] == 3


def test_rare_ngrams_are_left_out_where_there_are_too_many() -> None:
    counts = count_ngrams(["a b c", "a b", "a"], FORM)
    kept = np.array([], int)
    assert len(Ngrams.learn(counts, FORM, 1, kept).columns) == 3
    assert len(Ngrams.learn(counts, FORM, 1, kept, most=2).columns) == 1  # "b" is no more frequent
