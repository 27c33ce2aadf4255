"""What unlabelled text teaches: directions of spelling, and which texts may have a label."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams
from spectralnlp_sketch.intent import prior as prior_module
from spectralnlp_sketch.intent import pseudo_labels
from spectralnlp_sketch.intent.head import Features, Weights
from spectralnlp_sketch.intent.prior import (
    SPELLING_RIDGE,
    Ngrams,
    Prior,
    eigenword_directions,
    spelled_directions,
)
from spectralnlp_sketch.intent.pseudo_labels import (
    MAX_OF_A_LABEL,
    NEARNESS,
    WEIGHT,
    Unlabelled,
    domain_log_odds,
    most_confident,
    nearest,
)

FORM = NgramFormat((1, 2), (2, 4), 2**16)
ENDS = (("sails", "leaves"), ("at dawn", "north")), (("browns", "rises"), ("slowly", "well"))
SHIPS = [f"the {it} {does} {how}" for it in ("ferry", "boat") for does in ENDS[0][0] for how in ENDS[0][1]]
BREAD = [f"a {it} {does} {how}" for it in ("bagel", "toast") for does in ENDS[1][0] for how in ENDS[1][1]]


def ngrams_of(texts: list[str], form: NgramFormat) -> tuple[Ngrams, sp.csr_array]:
    """All n-grams of texts, and their rows."""
    counts = count_ngrams(texts, form)
    ngrams = Ngrams.learn(counts, form, 1, np.array([], int))
    return ngrams, ngrams.rows(counts)


def test_spelling_is_ridge_regression() -> None:
    ngrams, _ = ngrams_of(SHIPS, FORM)
    words = ["ferry", "boat", "sails"]
    vectors = np.random.default_rng(0).standard_normal((3, 2)).astype(np.float32)
    found = spelled_directions(words, vectors, ngrams)
    rows = ngrams.rows_of(words).toarray().astype(np.float64)
    rows[:, : ngrams.n_words] = 0.0
    rows[:, ngrams.n_single :] = 0.0
    normal = rows.T @ rows + SPELLING_RIDGE * np.eye(rows.shape[1])
    assert np.allclose(found, np.linalg.solve(normal, rows.T @ vectors), atol=1e-5)


@pytest.fixture
def little_text_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prior_module, "MIN_WORDS", 0)


@pytest.mark.usefixtures("little_text_is_enough")
def test_a_word_that_no_text_had_is_near_those_spelled_alike() -> None:
    texts = 4 * (SHIPS + BREAD)
    ngrams, rows = ngrams_of(texts, FORM)
    prior = Prior(ngrams, eigenword_directions(rows, ngrams, texts, 4, 3, 2.0, 0))
    assert np.linalg.norm(prior.projected(rows), axis=1).mean() == pytest.approx(2.0, rel=1e-5)
    new, ferry, bagel = prior.projected(ngrams.rows_of(["ferryboats", "ferry", "bagel"]))
    assert new @ ferry / np.linalg.norm(ferry) > 2 * new @ bagel / np.linalg.norm(bagel)


def test_little_text_has_no_eigenwords() -> None:
    texts = 4 * (SHIPS + BREAD)
    ngrams, rows = ngrams_of(texts, FORM)
    assert eigenword_directions(rows, ngrams, texts, 4, 3, 2.0, 0).shape == (len(ngrams.columns), 0)


@pytest.mark.usefixtures("little_text_is_enough")
def test_without_ngrams_of_characters_nothing_is_spelled() -> None:
    form = NgramFormat((1, 2), None, 2**16)
    texts = 4 * (SHIPS + BREAD)
    ngrams, rows = ngrams_of(texts, form)
    prior = Prior(ngrams, eigenword_directions(rows, ngrams, texts, 4, 3, 2.0, 0))
    assert prior.projected(rows).any()
    assert not prior.projected(ngrams.rows_of(["ferryboats"])).any()


def test_the_surest_of_each_label() -> None:
    found = np.array([[0.99, 0.01], [0.7, 0.3], [0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], np.float32)
    assert most_confident(found, 2, np.zeros(5, np.float32)).tolist() == [0, 2, 3]
    assert most_confident(found, 2, np.array([-9, 0, 0, -9, 0], np.float32)).tolist() == [1, 2, 3]


def test_the_nearest_of_each_text() -> None:
    dense = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    places, shares = nearest(dense, 4, batch=7)
    cosines = dense @ dense.T / np.outer(*2 * [np.linalg.norm(dense, axis=1)])
    np.fill_diagonal(cosines, -1)
    for row, found, share in zip(cosines, places, shares, strict=True):
        assert sorted(found) == sorted(np.argsort(-row)[:4])
        np.testing.assert_allclose(share, row[found] ** NEARNESS / (row[found] ** NEARNESS).sum(), rtol=1e-4)


def head_of(sparse: np.ndarray, dense: np.ndarray) -> Weights:
    """A head without a bias."""
    zeros = np.zeros((0, 2), np.float32)
    return Weights(sparse.astype(np.float32), dense.astype(np.float32), np.zeros(2, np.float32), zeros)


def test_a_text_is_as_likely_what_its_neighbours_are() -> None:
    scores = np.log(np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], np.float32))
    texts = Unlabelled(
        features=Features(sp.csr_array(scores), np.zeros((4, 0), np.float32)),
        log_odds=np.log(np.array([1, 1, 0.5, 1], np.float32)),
        neighbours=np.array([[1, 2], [1, 1], [2, 2], [0, 1]]),
        nearness=np.array([[0.75, 0.25], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]], np.float32),
        n_in_domain=2.0,
    )
    head = head_of(np.eye(2), np.zeros((0, 2)))
    first = [0.5 + 0.75 * 0.9 + 0.25 * 0.5 * 0.2, 0.5 + 0.75 * 0.1 + 0.25 * 0.5 * 0.8]
    last = [0.6 + 0.5 * 0.5 + 0.5 * 0.9, 0.4 + 0.5 * 0.5 + 0.5 * 0.1]
    wanted = np.array([np.divide(first, 2), [0.9, 0.1], [0.15, 0.6], np.divide(last, 2)])
    np.testing.assert_allclose(texts.probabilities(head), wanted, rtol=1e-5)
    joined, more = texts.pseudo_labelled(head)  # 0.9 of the first label; 0.6, doubted, of the second
    assert joined.tolist() == [1, 2]
    np.testing.assert_allclose(more.features.sparse.toarray(), scores[[1, 2]])
    np.testing.assert_array_equal(more.targets, np.eye(2))
    np.testing.assert_allclose(more.weights, [WEIGHT * 0.9**2, WEIGHT * 0.6**2], rtol=1e-5)


@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 3), (2, 3), (5, 0)])
def test_few_texts_have_few_neighbours(n: int, d: int) -> None:
    rng = np.random.default_rng(0)
    features = Features(sp.csr_array((n, 2), dtype=np.float32), rng.normal(size=(n, d)).astype(np.float32))
    texts = Unlabelled.of(features, features, 0)
    assert texts.neighbours.shape == (n, 1 if (n, d) == (2, 3) else 0)
    head = head_of(np.ones((2, 2)), np.ones((d, 2)))
    np.testing.assert_allclose(texts.probabilities(head), np.full((n, 2), 0.5), rtol=1e-4)


def test_no_more_texts_join_than_are_of_the_kind() -> None:
    def n_joining(n: int, of_kind: float, n_labels: int) -> int:
        features, zeros = Features(sp.csr_array((n, 2)), np.zeros((n, 0))), np.zeros(n, np.float32)
        return Unlabelled(features, zeros, np.zeros((n, 0)), zeros, of_kind).n_joining(n_labels)

    assert n_joining(100, 40.0, 3) == 10
    assert n_joining(40, 40.0, 100) == 1
    assert n_joining(0, 0.0, 3) == 0
    assert n_joining(10**3, 10.0**3, 2) == MAX_OF_A_LABEL


def test_texts_of_another_kind_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pseudo_labels, "MAX_CANDIDATES", 30)
    rng = np.random.default_rng(0)
    ours, theirs = (rng.normal(mean, 1, (60, 4)).astype(np.float32) for mean in (3, -3))

    def of(dense: np.ndarray) -> Features:
        return Features(sp.csr_array((len(dense), 1), dtype=np.float32), dense)

    texts = Unlabelled.of(of(np.vstack([theirs, ours[30:]])), of(ours[:30]), 0)
    np.testing.assert_array_equal(texts.features.dense, ours[30:])
    assert 15 < texts.n_in_domain < 40


def features(of: list[int], rng: np.random.Generator) -> Features:
    """Texts about subjects 0, 1, 2 …, a column of the sparse part each, with noise in the dense part."""
    sparse = sp.csr_array(np.eye(8, dtype=np.float32)[of])
    return Features(sparse, rng.normal(scale=0.1, size=(len(of), 3)).astype(np.float32))


def test_texts_of_another_kind_are_doubted() -> None:
    rng = np.random.default_rng(0)
    labelled = features([0, 1, 2] * 20, rng)
    mixed = features([0, 1, 2, 5, 6, 7] * 100, rng)
    found = domain_log_odds(labelled, mixed, 0).reshape(100, 6)
    assert found.max() == 0.0
    assert (found[:, 3:] < -2).all()
    assert (found[:, :3] > -1).all()


def test_texts_of_one_kind_are_hardly_doubted() -> None:
    rng = np.random.default_rng(0)
    found = domain_log_odds(features([0, 1, 2] * 20, rng), features([0, 1, 2] * 200, rng), 0)
    assert found.min() > -0.5


def test_too_few_texts_are_not_doubted() -> None:
    rng = np.random.default_rng(0)
    assert domain_log_odds(features([0, 1], rng), features([], rng), 0).shape == (0,)
    assert domain_log_odds(features([0], rng), features([5, 6], rng), 0).tolist() == [0, 0]
