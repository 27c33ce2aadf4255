"""What unlabelled text teaches: directions of spelling, and which texts may have a label."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from spectralnlp_sketch.hashing.ngrams import NgramFormat
from spectralnlp_sketch.intent.head import Features
from spectralnlp_sketch.intent.prior import (
    SPELLING_RIDGE,
    eigenword_directions,
    learn_prior,
    spelled_directions,
)
from spectralnlp_sketch.intent.pseudo_labels import how_many, log_kinship, surest

FORM = NgramFormat((1, 2), (2, 4), 2**16)
SETTINGS = {
    "min_texts": 1,
    "lsa_rank": 0,
    "lsa_scale": 1.0,
    "eigenword_dimensions": 4,
    "eigenword_scale": 2.0,
    "window": 3,
    "sentence_dimensions": 0,
    "random_state": 0,
}
ENDS = (("sails", "leaves"), ("at dawn", "north")), (("browns", "rises"), ("slowly", "well"))
SHIPS = [f"the {it} {does} {how}" for it in ("ferry", "boat") for does in ENDS[0][0] for how in ENDS[0][1]]
BREAD = [f"a {it} {does} {how}" for it in ("bagel", "toast") for does in ENDS[1][0] for how in ENDS[1][1]]


def test_spelling_is_ridge_regression() -> None:
    prior, _ = learn_prior(SHIPS, len(SHIPS), FORM, **SETTINGS)  # type: ignore[arg-type]
    ngrams, words = prior.ngrams, ["ferry", "boat", "sails"]
    vectors = np.random.default_rng(0).standard_normal((3, 2)).astype(np.float32)
    found = spelled_directions(words, vectors, ngrams)
    rows = ngrams.rows_of(words).toarray().astype(np.float64)
    rows[:, : ngrams.n_words] = 0.0
    rows[:, ngrams.n_single :] = 0.0
    normal = rows.T @ rows + SPELLING_RIDGE * np.eye(rows.shape[1])
    assert np.allclose(found, np.linalg.solve(normal, rows.T @ vectors), atol=1e-5)


def test_a_word_that_no_text_had_is_near_those_spelled_alike() -> None:
    texts = 4 * (SHIPS + BREAD)
    prior, rows = learn_prior(texts, len(texts), FORM, **SETTINGS)  # type: ignore[arg-type]
    assert np.linalg.norm(prior.projected(rows), axis=1).mean() == pytest.approx(2.0, rel=1e-5)
    new, ferry, bagel = prior.projected(prior.ngrams.rows_of(["ferryboats", "ferry", "bagel"]))
    assert new @ ferry / np.linalg.norm(ferry) > 2 * new @ bagel / np.linalg.norm(bagel)


def test_without_ngrams_of_characters_nothing_is_spelled() -> None:
    form = NgramFormat((1, 2), None, 2**16)
    texts = 4 * (SHIPS + BREAD)
    prior, rows = learn_prior(texts, len(texts), form, **SETTINGS)  # type: ignore[arg-type]
    found = eigenword_directions(rows, prior.ngrams, texts, 4, 3, 2.0, 0)
    assert np.array_equal(found, prior.projection)
    assert not prior.projected(prior.ngrams.rows_of(["ferryboats"])).any()


def test_the_surest_of_each_label() -> None:
    scores = np.array([[5, 0], [1, 0], [3, 0], [0, 2], [0.1, 0]], np.float32)
    assert surest(scores, 2).tolist() == [0, 2, 3]
    assert surest(scores, 2, np.array([-9, 0, 0, -9, 0], np.float32)).tolist() == [1, 2, 3]


def test_no_more_texts_join_than_are_of_the_kind() -> None:
    kin, strange = np.zeros(40, np.float32), np.full(60, -20, np.float32)
    assert how_many(50, kin, 3) == 10
    assert how_many(50, np.append(kin, strange), 3) == 10
    assert how_many(4, kin, 3) == 4
    assert how_many(50, kin, 100) == 1
    assert how_many(50, kin[:0], 3) == 0
    assert how_many(0, kin, 3) == 0


def features(of: list[int], rng: np.random.Generator) -> Features:
    """Texts about subjects 0, 1, 2 …, a column of the sparse part each, with noise in the dense part."""
    sparse = sp.csr_array(np.eye(8, dtype=np.float32)[of])
    return Features(sparse, rng.normal(scale=0.1, size=(len(of), 3)).astype(np.float32))


def test_texts_of_another_kind_are_doubted() -> None:
    rng = np.random.default_rng(0)
    labelled = features([0, 1, 2] * 20, rng)
    mixed = features([0, 1, 2, 5, 6, 7] * 100, rng)
    found = log_kinship(labelled, mixed, 0).reshape(100, 6)
    assert found.max() == 0.0
    assert (found[:, 3:] < -2).all()
    assert (found[:, :3] > -1).all()


def test_texts_of_one_kind_are_hardly_doubted() -> None:
    rng = np.random.default_rng(0)
    found = log_kinship(features([0, 1, 2] * 20, rng), features([0, 1, 2] * 200, rng), 0)
    assert found.min() > -0.5


def test_too_few_texts_are_not_doubted() -> None:
    rng = np.random.default_rng(0)
    assert log_kinship(features([0, 1], rng), features([], rng), 0).shape == (0,)
    assert log_kinship(features([0], rng), features([5, 6], rng), 0).tolist() == [0, 0]
