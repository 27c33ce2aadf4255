"""CCA against the generalised eigenproblem, and what the tutorial says of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from spectralnlp.errors import InputError
from spectralnlp.linalg import cca as module
from spectralnlp.linalg.cca import CanonicalPairs, View, cca


def solve(x: Any, y: Any, rank: int, share: float = 0.0) -> CanonicalPairs:
    """CCA of two matrices by their moments."""
    x, y = (
        scipy.sparse.csr_array(each) if scipy.sparse.issparse(each) else np.asarray(each) for each in (x, y)
    )
    n = x.shape[0]
    views = (View(each.T @ each / n, np.asarray(each.mean(axis=0)).ravel(), share) for each in (x, y))
    joint = x.T @ y / n
    return cca(*views, joint, rank)


def one_hot(codes: np.ndarray, size: int) -> Any:
    """Codes as a sparse matrix; a row of zeros where one is negative."""
    rows = np.flatnonzero(codes >= 0)
    return scipy.sparse.csr_array((np.ones(len(rows)), (rows, codes[rows])), shape=(len(codes), size))


def dense(x: Any) -> np.ndarray:
    return x.toarray() if scipy.sparse.issparse(x) else x


def penalties(x: np.ndarray, share: float) -> np.ndarray:
    return share * x.var(axis=0).mean() * np.eye(x.shape[1])


def eigenproblem(x: np.ndarray, y: np.ndarray, share: float) -> np.ndarray:
    """Correlations from [0 S_xy; S_yx 0] w = ρ [S_x 0; 0 S_y] w, in the directions that have variance."""
    x, y = (_full_rank(each - each.mean(axis=0), share) for each in (x, y))
    n, p = x.shape
    q = y.shape[1]
    left = np.zeros((p + q, p + q))
    left[:p, p:] = x.T @ y / n
    left[p:, :p] = left[:p, p:].T
    right = scipy.linalg.block_diag(*(each.T @ each / n + penalties(each, share) for each in (x, y)))
    return scipy.linalg.eigh(left, right, eigvals_only=True)[::-1]


def _full_rank(x: np.ndarray, share: float) -> np.ndarray:
    if share:
        return x
    u, sigma, _ = np.linalg.svd(x, full_matrices=False)
    return u[:, sigma > 1e-9] * sigma[sigma > 1e-9]


def views(kind: str, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, 300)
    if kind == "one-hot":
        codes = [(hidden * 2 + rng.integers(0, 3, 300)) % 9, (hidden + rng.integers(0, 4, 300)) % 7]
        return one_hot(codes[0], 9), one_hot(codes[1], 8)  # the last column of y is never seen
    x, y = (rng.standard_normal((4, d))[hidden] + rng.standard_normal((300, d)) for d in (6, 5))
    if kind == "dense":
        return x, y
    return tuple(scipy.sparse.csr_array(np.where(np.abs(each) > 1, each, 0)) for each in (x, y))


@pytest.mark.parametrize("kind", ["dense", "sparse", "one-hot"])
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_it_is_the_generalised_eigenproblem(kind: str, share: float) -> None:
    x, y = views(kind)
    found = solve(x, y, 4, share)
    np.testing.assert_allclose(found.correlations, eigenproblem(dense(x), dense(y), share)[:4], atol=1e-10)
    x, y = (dense(each) - dense(each).mean(axis=0) for each in (x, y))
    for view, weights in ((x, found.x_weights), (y, found.y_weights)):
        covariance = view.T @ view / len(view) + penalties(view, share)
        np.testing.assert_allclose(weights.T @ covariance @ weights, np.eye(4), atol=1e-10)
    crossed = (x @ found.x_weights).T @ (y @ found.y_weights) / len(x)
    np.testing.assert_allclose(crossed, np.diag(found.correlations), atol=1e-10)


def test_a_row_of_zeros_in_a_one_hot_view() -> None:
    x, y = (dense(each) for each in views("one-hot"))
    x[::5] = 0
    found = solve(scipy.sparse.csr_array(x), scipy.sparse.csr_array(y), 3)
    np.testing.assert_allclose(found.correlations, eigenproblem(x, y, 0)[:3], atol=1e-10)


@pytest.mark.parametrize(("how", "within"), [("_EXACT", 1e-10), ("WIDEST", 1e-10)])
def test_large_views_take_other_roads_to_the_same(
    how: str, within: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    signal = rng.standard_normal((400, 3)) * [3, 2, 1]
    x, y = (
        scipy.sparse.csr_array(np.round(signal @ rng.standard_normal((3, d)) + rng.standard_normal((400, d))))
        for d in (20, 16)
    )
    expected = solve(x, y, 2, 0.05)
    monkeypatch.setattr(module, "_EXACT", 1)
    monkeypatch.setattr(module, how, 1)
    found = solve(x, y, 2, 0.05)
    np.testing.assert_allclose(found.correlations, expected.correlations, atol=within)
    np.testing.assert_allclose(found.x_weights, expected.x_weights, atol=100 * within)
    np.testing.assert_allclose(found.y_weights, expected.y_weights, atol=100 * within)
    assert solve(x, y, 2, 0.05).x_weights.tobytes() == found.x_weights.tobytes()


def test_units_do_not_matter() -> None:
    x, y = views("dense")
    expected = solve(x, y, 3).correlations
    found = solve(x * 10.0 ** np.arange(-6, 6, 2), y, 3).correlations
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_it_finds_the_variable_that_a_naive_bayes_model_planted() -> None:
    """Views that are independent given a hidden class (Foster et al. 2009): projected, they still tell it."""
    rng = np.random.default_rng(1)
    k, d, n = 3, 40, 6000
    hidden = rng.integers(0, k, n)
    given = [rng.dirichlet(np.full(d, 0.3), k) for _ in range(2)]
    x, y = (
        one_hot((rng.random((n, 1)) > given[view].cumsum(axis=1)[hidden][:, :-1]).sum(axis=1), d)
        for view in range(2)
    )
    found = solve(x, y, 5)
    assert (found.correlations[: k - 1] > 0.3).all()  # the class has k - 1 directions
    assert (found.correlations[k - 1 :] < 0.2).all()  # the rest is noise
    # A word's place in the projection is a linear function of p(class | word), and of nothing else.
    joint = np.zeros((d, k))
    np.add.at(joint, (x.indices, hidden), 1)
    seen = joint.sum(axis=1) > 50
    posterior = (joint / joint.sum(axis=1, keepdims=True))[seen]
    predicted = np.column_stack([found.x_weights[seen, : k - 1], np.ones(seen.sum())])
    fitted = predicted @ np.linalg.lstsq(predicted, posterior, rcond=None)[0]
    assert np.abs(fitted - posterior).mean() < 0.05


def test_it_keeps_what_pca_loses() -> None:
    """The tutorial: regression on principal components can miss all the signal, on CCA it does not."""
    rng = np.random.default_rng(2)
    n = 4000
    signal = rng.standard_normal(n)
    views = [
        np.column_stack([signal + 0.5 * rng.standard_normal(n), 30 * rng.standard_normal((n, 3))])
        @ np.linalg.qr(rng.standard_normal((4, 4)))[0]
        for _ in range(2)
    ]
    centred = views[0] - views[0].mean(axis=0)
    by_cca = (centred @ solve(*views, 1).x_weights)[:, 0]
    by_pca = centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T
    fit = by_pca @ np.linalg.lstsq(by_pca, signal, rcond=None)[0]
    assert np.corrcoef(by_cca, signal)[0, 1] ** 2 > 0.75
    assert np.corrcoef(fit, signal)[0, 1] ** 2 < 0.02


def test_more_pairs_than_there_are() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((50, 2))
    found = solve(np.column_stack([x, x[:, 0]]), rng.standard_normal((50, 4)), 10)
    assert len(found.correlations) == 2
    assert np.isfinite(found.x_weights).all()


def test_a_wide_view_needs_regularisation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WIDEST", 5)
    with pytest.raises(InputError, match="a view of 6 columns needs regularisation"):
        solve(*views("dense"), 1)
    x, y = views("dense")
    with pytest.raises(InputError, match="the covariance of a view of 6 columns is numerically singular"):
        solve(np.repeat(x[:, :1], 6, axis=1), y, 1, share=1e-18)
    monkeypatch.setattr(module, "WIDEST_REGULARISED", 5)
    with pytest.raises(InputError, match="a view of 6 columns is too wide; keep at most 5 columns"):
        solve(x, y, 1, share=0.1)
