"""dCoT: the closed form is the limit of corruption, three ways to it agree, scikit-learn's rules hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from spectralnlp_sketch import DCoT, MatrixCorpus
from spectralnlp_sketch.dcot.estimator import RIDGE
from spectralnlp_sketch.dcot.solve import (
    Corruption,
    Reconstruction,
    solve_by_documents,
    solve_by_iteration,
    solve_by_terms,
)
from spectralnlp_sketch.errors import MatrixError, SizeError

from spectralnlp.errors import ConfigError
from spectralnlp.runtime import Corpus, use_engine

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(2.0, 0.5, 12), (40, 12)).astype(np.float64)
PROTOTYPES = np.array([3, 0, 7])
ROWS = sp.csr_matrix(COUNTS)


def by_terms(rows: np.ndarray, prototypes: Any, corruption: Corruption) -> Reconstruction:
    with_constant = np.column_stack([rows, np.ones(len(rows))])
    return solve_by_terms(with_constant.T @ with_constant, len(rows), prototypes, corruption)


def as_published(rows: np.ndarray, prototypes: np.ndarray, keep: float, ridge: float) -> np.ndarray:
    """Equations 4 to 6, a constant appended: [W, b] = E[R] E[Q]⁻¹ (r, d + 1)."""
    x = np.column_stack([rows, np.ones(len(rows))])
    survive = np.full(x.shape[1], keep)
    survive[-1] = 1.0
    scatter = x.T @ x
    q = scatter * np.outer(survive, survive)
    np.fill_diagonal(q, np.diagonal(scatter) * survive)  # p once, not twice
    q[:-1, :-1] += ridge * np.mean(np.diagonal(scatter)[:-1]) * np.eye(rows.shape[1])
    return (scatter[prototypes] * survive) @ np.linalg.inv(q)


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9])
def test_is_the_papers_matrix(keep: float) -> None:
    expected = as_published(COUNTS, PROTOTYPES, keep, 1e-6)
    found = by_terms(COUNTS, PROTOTYPES, Corruption(keep, 1e-6))
    np.testing.assert_allclose(found.weights.T, expected[:, :-1], rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.bias, expected[:, -1], rtol=1e-6, atol=1e-8)


def test_is_the_limit_of_explicit_corruption() -> None:
    keep, copies = 0.6, 20_000
    survived = np.random.default_rng(1).random((copies, *COUNTS.shape)) < keep
    corrupted = (COUNTS * survived).reshape(-1, COUNTS.shape[1])
    x = np.column_stack([corrupted, np.ones(len(corrupted))])  # the constant is never corrupted
    targets = np.tile(COUNTS[:, PROTOTYPES], (copies, 1))
    sampled = np.linalg.solve(x.T @ x, x.T @ targets)
    found = by_terms(COUNTS, PROTOTYPES, Corruption(keep, 1e-12))
    np.testing.assert_allclose(found.weights, sampled[:-1], atol=1e-2)
    np.testing.assert_allclose(found.bias, sampled[-1], atol=1e-2)


@pytest.mark.parametrize("shape", [(40, 12), (7, 12)])
@pytest.mark.parametrize("keep", [0.2, 0.5, 1.0])
def test_woodbury_and_iteration_agree_with_dense(shape: tuple[int, int], keep: float) -> None:
    rows = COUNTS[: shape[0]]
    corruption = Corruption(keep, 1e-3)
    expected = by_terms(rows, PROTOTYPES, corruption)
    for solve in (solve_by_documents, lambda *each: solve_by_iteration(*each, tolerance=1e-12)):
        found = solve(sp.csr_matrix(rows), PROTOTYPES, corruption)
        np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.bias, expected.bias, rtol=1e-7, atol=1e-9)


def test_float32_stays_near() -> None:
    exact = solve_by_documents(ROWS, PROTOTYPES, Corruption(0.5, 1e-5))
    narrow = solve_by_documents(ROWS.astype(np.float32), PROTOTYPES, Corruption(0.5, 1e-5))
    assert narrow.weights.dtype == narrow.bias.dtype == np.float32
    np.testing.assert_allclose(narrow.weights, exact.weights, atol=1e-4)


# ---------------------------------------------------------------------------------------------------------
# The transformer

ESTIMATORS: list[Callable[[], Any]] = [
    lambda: DCoT(n_prototypes=5),
    lambda: DCoT(n_prototypes=5, output="last"),
    lambda: DCoT(n_prototypes=5, output="layers", n_layers=2, normalise=False),
]
SOLVERS = ("terms", "documents", "iteration")


def solved_by(monkeypatch: pytest.MonkeyPatch, solver: str) -> DCoT:
    """A transformer for which a solver is the cheapest."""
    monkeypatch.setattr(DCoT, "_cheapest_solver", lambda self: solver)
    return DCoT(n_prototypes=4)


@parametrize_with_checks([make() for make in ESTIMATORS])
def test_scikit_learn_conventions(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def test_layers_follow_each_other() -> None:
    model = DCoT(n_prototypes=4, n_layers=3, keep_probability=0.4, normalise=False, output="layers").fit(
        COUNTS
    )
    z, corruption = COUNTS, Corruption(0.4, RIDGE)
    prototypes: Any = model.prototypes_
    layers = []
    for _ in range(3):
        z = np.tanh(by_terms(z, prototypes, corruption)(z))
        layers.append(z)
        prototypes = slice(None)
    np.testing.assert_allclose(model.transform(COUNTS), np.hstack(layers), atol=1e-9)


def test_puts_rows_and_layers_side_by_side() -> None:
    model = DCoT(n_prototypes=4, n_layers=2).fit(ROWS)
    z = model.transform(ROWS)
    assert sp.issparse(z)
    assert z.shape == (40, 12 + 2 * 4) == (40, len(model.get_feature_names_out()))
    np.testing.assert_array_equal(z[:, :12].toarray(), COUNTS)
    np.testing.assert_allclose(sp.linalg.norm(z[:, 12:16], axis=1), 1)
    last = model.set_params(output="last").transform(ROWS)
    np.testing.assert_allclose(last, z[:, 16:].toarray())
    assert isinstance(last, np.ndarray)


def test_solvers_and_engines_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = MatrixCorpus(ROWS, n_partitions=3)
    expected = solved_by(monkeypatch, "terms").fit(COUNTS).transform(COUNTS)
    for solver in SOLVERS:
        one = solved_by(monkeypatch, solver).fit(corpus).transform(COUNTS)
        with use_engine("threads", jobs=2):
            two = solved_by(monkeypatch, solver).fit(corpus).transform(COUNTS)
        assert one.tobytes() == two.tobytes()
        np.testing.assert_allclose(one, expected, atol=1e-5)


def test_a_stream_gives_what_memory_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream(Corpus[Any]):
        n_columns = COUNTS.shape[1]

        def partitions(self) -> Any:
            return MatrixCorpus(ROWS, n_partitions=3).partitions()

    for solver in ("terms", "documents"):
        model = solved_by(monkeypatch, solver)
        streamed = model.fit(Stream()).transform(COUNTS)
        np.testing.assert_allclose(streamed, model.fit(ROWS).transform(COUNTS), atol=1e-9)


def test_chooses_the_smaller_side() -> None:
    assert DCoT(n_prototypes=4).fit(ROWS).solver_ == "terms"
    assert DCoT(n_prototypes=4).fit(ROWS[:6]).solver_ == "documents"


def test_prototypes_are_heavy_or_frequent_terms_that_are_no_stop_words() -> None:
    rows = np.array([[1, 5, 0, 1.0], [1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]])
    terms = ["the", "wheat", "never", "grain"]
    assert DCoT(n_prototypes=2, prototypes="frequent").fit(rows).prototypes_.tolist() == [0, 3]
    assert DCoT(n_prototypes=2).fit(rows).prototypes_.tolist() == [1, 0]
    named = DCoT(n_prototypes=2, prototypes="frequent", terms=terms, stop_words="english").fit(rows)
    assert named.prototypes_.tolist() == [3, 1]
    own = DCoT(n_prototypes=9, terms=terms, stop_words={"grain"}).fit(rows)
    assert own.prototypes_.tolist() == [1, 0]  # column 2 is in no row


def test_reconstructs_frequent_terms_from_rare_ones() -> None:
    documents = [[1, 1, 0, 0, 0.0]] * 8 + [[0, 0, 1, 1, 0]] * 8 + [[1, 0, 0, 0, 1]] * 2
    terms = ["president", "speech", "stock", "market", "reagan"]
    model = DCoT(n_prototypes=4, terms=terms, n_layers=1, keep_probability=0.5).fit(np.array(documents))
    empty = dict(model.reconstruct(None, 4))
    bias = np.tanh(model.layers_[0].bias)
    assert empty == pytest.approx({terms[j]: bias[i] for i, j in enumerate(model.prototypes_)})
    (best, score), *_ = model.reconstruct("reagan", 4)
    assert best == "president"
    j, i = 4, model.prototypes_.tolist().index(0)
    expected = np.tanh(model.layers_[0].weights[j, i] + model.layers_[0].bias[i]) - bias[i]
    assert score == pytest.approx(expected)
    assert model.reconstruct(4, 4) == model.reconstruct("reagan", 4)
    with pytest.raises(SizeError, match="'bush' is not among the terms"):
        model.reconstruct("bush")
    with pytest.raises(SizeError, match="no column 9"):
        model.reconstruct(9)


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (DCoT(n_prototypes=0), "DCoT.n_prototypes: got 0, expected int, 1 or more"),
        (DCoT(n_layers=0), "DCoT.n_layers: got 0, expected int, 1 or more"),
        (DCoT(keep_probability=0.0), "DCoT.keep_probability: got 0.0, expected float, above 0, at most 1"),
        (DCoT(keep_probability=1.1), "at most 1"),
        (DCoT(prototypes="all"), "DCoT.prototypes: got 'all', expected 'heavy' or 'frequent'"),
        (DCoT(output="first"), "DCoT.output: got 'first', expected 'all' or"),
        (DCoT(stop_words="english"), "stop words and terms given by name need"),
        (DCoT(stop_words="french", terms=["a"] * 12), "no stop words of 'french'"),
        (DCoT(stop_words="english", terms=["a"]), "terms names 1 columns, and there are 12"),
    ],
)
def test_settings_that_make_no_sense(model: DCoT, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as refusal:
        model.fit(ROWS)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("sparse", [False, True])
def test_bad_rows_are_refused(solver: str, sparse: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = COUNTS.copy()
    bad[31, 5] = np.nan
    with pytest.raises(MatrixError, match=r"row 31 .* column 5"):
        solved_by(monkeypatch, solver).fit(sp.csr_matrix(bad) if sparse else bad)
    with pytest.raises(MatrixError, match="no rows"):
        solved_by(monkeypatch, solver).fit(MatrixCorpus(COUNTS[:0]))
    with pytest.raises(MatrixError, match="no term can be a prototype"):
        solved_by(monkeypatch, solver).fit(np.zeros((3, 4)))


@pytest.mark.parametrize("rows", [COUNTS[:1], np.ones((5, 1)), np.eye(6), np.ones((4, 3))])
@pytest.mark.parametrize("solver", SOLVERS)
def test_degenerate_rows(rows: np.ndarray, solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    z = solved_by(monkeypatch, solver).fit(rows).transform(np.vstack([rows, np.zeros_like(rows[:1])]))
    assert np.isfinite(z).all()


def test_works_in_a_pipeline_and_a_grid_search() -> None:
    y = (COUNTS[:, 3] > np.median(COUNTS[:, 3])).astype(int)
    pipeline = make_pipeline(DCoT(n_prototypes=6), LogisticRegression())
    search = GridSearchCV(pipeline, {"dcot__keep_probability": [0.3, 0.9]}, cv=2).fit(ROWS, y)
    assert search.best_score_ > 0.7
