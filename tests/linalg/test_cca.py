"""CCA against the generalised eigenproblem, and what the tutorial says of it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from spectralnlp.errors import InputError
from spectralnlp.linalg import cca as module
from spectralnlp.linalg.cca import CCA, OneHot, cca


def eigenproblem(x: np.ndarray, y: np.ndarray, penalty: float, centre: bool) -> np.ndarray:
    """Correlations from [0 S_xy; S_yx 0] w = ρ [S_x 0; 0 S_y] w, in the directions that have variance."""
    if centre:
        x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    x, y = _full_rank(x, penalty), _full_rank(y, penalty)
    n, p = x.shape
    q = y.shape[1]
    left = np.zeros((p + q, p + q))
    left[:p, p:] = x.T @ y / n
    left[p:, :p] = left[:p, p:].T
    right = scipy.linalg.block_diag(x.T @ x / n + penalty * np.eye(p), y.T @ y / n + penalty * np.eye(q))
    return scipy.linalg.eigh(left, right, eigvals_only=True)[::-1]


def _full_rank(x: np.ndarray, penalty: float) -> np.ndarray:
    if penalty:
        return x
    u, sigma, _ = np.linalg.svd(x, full_matrices=False)
    return u[:, sigma > 1e-9] * sigma[sigma > 1e-9]


def views(kind: str, seed: int = 0) -> tuple[object, object, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, 300)
    if kind == "one-hot":
        codes = [(hidden * 2 + rng.integers(0, 3, 300)) % 9, (hidden + rng.integers(0, 4, 300)) % 7]
        x, y = OneHot(codes[0], 9), OneHot(codes[1], 8)  # the last column of y is never seen
        return x, y, np.eye(9)[codes[0]], np.eye(8)[codes[1]]
    dense = [rng.standard_normal((4, d))[hidden] + rng.standard_normal((300, d)) for d in (6, 5)]
    if kind == "dense":
        return dense[0], dense[1], dense[0], dense[1]
    thin = [np.where(np.abs(each) > 1, each, 0) for each in dense]
    return scipy.sparse.csr_matrix(thin[0]), scipy.sparse.coo_matrix(thin[1]), thin[0], thin[1]


@pytest.mark.parametrize("kind", ["dense", "sparse", "one-hot"])
@pytest.mark.parametrize("penalty", [0.0, 0.1])
@pytest.mark.parametrize("centre", [True, False])
def test_it_is_the_generalised_eigenproblem(kind: str, penalty: float, centre: bool) -> None:
    x, y, dense_x, dense_y = views(kind)
    found = cca(x, y, 4, regularisation=penalty, centre=centre)
    np.testing.assert_allclose(
        found.correlations, eigenproblem(dense_x, dense_y, penalty, centre)[:4], atol=1e-9
    )
    if not penalty:
        assert_white(found, x, y, centre)


def assert_white(found: CCA, x: object, y: object, centre: bool) -> None:
    a, b = found.project_x(x), found.project_y(y)
    np.testing.assert_allclose(a.T @ a / len(a), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(b.T @ b / len(b), np.eye(4), atol=1e-8)
    np.testing.assert_allclose(a.T @ b / len(b), np.diag(found.correlations), atol=1e-8)
    if centre:
        np.testing.assert_allclose(a.mean(axis=0), 0, atol=1e-9)


def test_a_row_of_zeros_in_a_one_hot_view() -> None:
    x, y, dense_x, dense_y = views("one-hot")
    codes = x.codes.copy()  # type: ignore[attr-defined]
    codes[::5] = -1
    dense_x = dense_x.copy()
    dense_x[::5] = 0
    found = cca(OneHot(codes, 9), y, 3)
    np.testing.assert_allclose(found.correlations, eigenproblem(dense_x, dense_y, 0, True)[:3], atol=1e-9)


@pytest.mark.parametrize("how", ["randomised", "iterated"])
def test_large_views_take_other_roads_to_the_same(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, _, _ = views("sparse")
    expected = cca(x, y, 2, regularisation=0.05)
    monkeypatch.setattr(module, "_EXACT" if how == "randomised" else "WIDEST", 1)
    found = cca(x, y, 2, regularisation=0.05)
    np.testing.assert_allclose(found.correlations, expected.correlations, atol=1e-8)
    np.testing.assert_allclose(found.x_weights, expected.x_weights, atol=1e-5)
    np.testing.assert_allclose(found.y_weights, expected.y_weights, atol=1e-5)


def test_it_finds_the_variable_that_a_naive_bayes_model_planted() -> None:
    """Views that are independent given a hidden class (Foster et al. 2009): projected, they still tell it."""
    rng = np.random.default_rng(1)
    k, d, n = 3, 40, 6000
    hidden = rng.integers(0, k, n)
    given = [rng.dirichlet(np.full(d, 0.3), k) for _ in range(2)]
    x, y = (
        OneHot((rng.random((n, 1)) > given[view].cumsum(axis=1)[hidden][:, :-1]).sum(axis=1), d)
        for view in range(2)
    )
    found = cca(x, y, 5)
    assert (found.correlations[: k - 1] > 0.3).all()  # the class has k - 1 directions
    assert (found.correlations[k - 1 :] < 0.2).all()  # the rest is noise
    # A word's place in the projection is a linear function of p(class | word), and of nothing else.
    joint = np.zeros((d, k))
    np.add.at(joint, (x.codes, hidden), 1)
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
    by_cca = cca(*views, 1).project_x(views[0])[:, 0]
    centred = views[0] - views[0].mean(axis=0)
    by_pca = centred @ np.linalg.svd(centred, full_matrices=False)[2][:3].T
    fit = by_pca @ np.linalg.lstsq(by_pca, signal, rcond=None)[0]
    assert np.corrcoef(by_cca, signal)[0, 1] ** 2 > 0.75
    assert np.corrcoef(fit, signal)[0, 1] ** 2 < 0.02


def test_more_pairs_than_there_are() -> None:
    rng = np.random.default_rng(3)
    x = rng.standard_normal((50, 2))
    found = cca(np.column_stack([x, x[:, 0]]), rng.standard_normal((50, 4)), 10)
    assert len(found.correlations) == 2
    assert np.isfinite(found.x_weights).all()


@pytest.mark.parametrize(
    ("x", "y", "complaint"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), "3 and 4 examples"),
        (np.ones((0, 2)), np.ones((0, 2)), "no examples"),
        (np.array([[1.0], [np.nan]]), np.ones((2, 1)), "not finite"),
        (OneHot(np.array([0, 5]), 3), np.ones((2, 1)), "code of 5"),
        (
            scipy.sparse.csr_array((2, 5000)) + scipy.sparse.csr_array(np.ones((2, 5000))),
            np.ones((2, 1)),
            "5000",
        ),
    ],
)
def test_what_cannot_be_correlated_is_refused(x: object, y: object, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        cca(x, y, 1)


def test_the_same_data_gives_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_EXACT", 1)
    x, y, _, _ = views("one-hot")
    assert cca(x, y, 3).x_weights.tobytes() == cca(x, y, 3).x_weights.tobytes()
