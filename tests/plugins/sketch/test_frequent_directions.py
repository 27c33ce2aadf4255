"""Frequent directions: 0 ⪯ XᵀX − BᵀB within the bound, for every matrix, however it is split and merged."""

from __future__ import annotations

import tracemalloc
from typing import Any
from weakref import WeakSet

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from spectralnlp_sketch import FrequentDirections
from spectralnlp_sketch.frequent_directions import kernels, randomised
from spectralnlp_sketch.frequent_directions.error import covariance_error
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.frequent_directions.shrinking import shrink, shrink_by_half
from spectralnlp_sketch.rows import Rows
from spectralnlp_sketch.stream import MatrixCorpus

from spectralnlp.runtime import Batch, accumulate

METHODS = ("figure-1", "randomised")
every_method = pytest.mark.parametrize("method", METHODS)
matrices = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=24),
    elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, width=32)),
)


def promised(X: np.ndarray, size: int, method: str) -> float:
    """Bounds of the theorems: 2‖X‖²/l of figure 1, min over k of ‖X − X_k‖²/(l + 1 − k) of the others."""
    values = np.maximum(np.linalg.eigvalsh(X.T @ X)[::-1], 0.0)
    if method == "figure-1":
        return float(2 * values.sum() / size)
    return float(min(values[k:].sum() / (size + 1 - k) for k in range(size + 1)))


def assert_sketches(X: np.ndarray, sketch: Any, size: int, method: str) -> None:
    slack = 1e-12 * max(X.shape) * (X**2).sum()
    values = np.linalg.eigvalsh(X.T @ X - sketch.rows.T @ sketch.rows)
    assert len(sketch.rows) <= size
    assert values[0] >= -slack
    assert values[-1] <= sketch.bound + slack
    assert sketch.bound <= promised(X, size, method) + slack


def empty(X: np.ndarray, size: int, method: str, **options: Any) -> FrequentDirectionsMoments:
    return FrequentDirectionsMoments(size, X.shape[1], method, **options)


def add(moments: FrequentDirectionsMoments, rows: Any, start: int = 0) -> FrequentDirectionsMoments:
    moments.observe(Batch(Rows(rows), "", 0, start))
    return moments


@every_method
@given(X=matrices, size=st.integers(1, 6), data=st.data())
@settings(max_examples=60)
def test_any_matrix_split_and_merge_order_is_within_the_bound(
    method: str, X: np.ndarray, size: int, data: st.DataObject
) -> None:
    n = len(X)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=5)))
    buffer = data.draw(st.integers(1, 8))
    bounds = list(zip([0, *cuts], [*cuts, n], strict=True))
    parts = [
        add(empty(X, size, method, buffer_rows=buffer), X[low:high], low)
        for low, high in data.draw(st.permutations(bounds))
    ]
    while len(parts) > 1:
        left = data.draw(st.integers(0, len(parts) - 2))
        parts[left].merge(parts.pop(left + 1))
    (whole,) = parts
    assert whole.n_rows == n
    assert_sketches(X, whole.sketch, size, method)


@every_method
def test_batches_leave_no_trace_and_reading_changes_nothing(method: str) -> None:
    X = np.random.default_rng(1).standard_normal((50, 9))
    whole = add(empty(X, 5, method, buffer_rows=7), X)
    pieces = empty(X, 5, method, buffer_rows=7)
    for low in range(50):
        add(pieces, X[low : low + 1], low)
        assert_sketches(X[: low + 1], pieces.sketch, 5, method)  # read at any point, no row is lost
    assert pieces.sketch.rows.tobytes() == whole.sketch.rows.tobytes()
    arrays, others = whole.arrays(), pieces.arrays()
    assert {name: each.tobytes() for name, each in arrays.items() if name != "totals"} == {
        name: each.tobytes() for name, each in others.items() if name != "totals"
    }


def test_figure_1_as_printed() -> None:
    """Against a transcription of the paper's figure, row by row."""
    X = np.random.default_rng(2).standard_normal((33, 6))
    X[5] = 0.0
    size = 4
    Y = np.zeros((size, 6))
    for row in X:
        Y[np.flatnonzero(~Y.any(axis=1))[0]] = row
        if Y.any(axis=1).all():
            _, sigma, vt = np.linalg.svd(Y, full_matrices=False)
            Y = np.sqrt(np.maximum(sigma**2 - sigma[size // 2 - 1] ** 2, 0))[:, None] * vt
    ours = add(empty(X, size, "figure-1"), X).sketch.rows
    np.testing.assert_allclose(ours.T @ ours, Y.T @ Y, atol=1e-12)


@pytest.mark.parametrize("shape", [(7, 30), (30, 7), (12, 12)])
def test_shrinking_by_either_gram_matrix_is_shrinking_by_svd(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(3).standard_normal(shape)
    _, sigma, vt = np.linalg.svd(A, full_matrices=False)
    expected = (vt[:4].T * (sigma[:4] ** 2 - sigma[4] ** 2)) @ vt[:4]
    shrunk = shrink(A, 4)
    np.testing.assert_allclose(shrunk.rows.T @ shrunk.rows, expected, atol=1e-10)
    assert shrunk.shrinkage == pytest.approx(sigma[4] ** 2)
    gram = shrunk.rows @ shrunk.rows.T
    np.testing.assert_allclose(gram, np.diag(np.diagonal(gram)), atol=1e-10)


def test_half_of_the_rows_are_dropped() -> None:
    for size in (1, 2, 5, 8):
        A = np.random.default_rng(size).standard_normal((size, 9))
        assert len(shrink_by_half(A).rows) <= size - -(-size // 2)


def decaying(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * np.linspace(1, 0.03, d) ** 2


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_randomised_shrinks_large_buffers_within_the_bound(sparse: bool, dtype: str) -> None:
    X = decaying(900, 120)
    if sparse:
        X *= np.random.default_rng(4).random(X.shape) < 0.1
    rows = sp.csr_matrix(X) if sparse else X
    moments = empty(X, 10, "randomised", sparse=sparse, dtype=dtype, buffer_rows=300)
    calls: list[tuple[int, int]] = []
    original = randomised._project

    def counted(found: Any, size: int) -> Any:
        calls.append(found.image.shape)
        return original(found, size)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(randomised, "_project", counted)
        sketch = add(moments, rows.astype(dtype)).sketch
    assert len(calls) >= 3, "the buffers were to be shrunk through directions, not exactly"
    assert sketch.rows.dtype == dtype
    values = np.linalg.eigvalsh(X.T @ X - sketch.rows.T.astype(float) @ sketch.rows.astype(float))
    slack = (1e-5 if dtype == "float32" else 1e-11) * (X**2).sum()
    assert values[0] >= -slack
    assert values[-1] <= sketch.bound + slack
    assert sketch.bound <= promised(X, 10, "randomised") * (1 + 1e-4)
    assert values[-1] <= 4 * np.linalg.eigvalsh(X.T @ X)[-11]


def test_one_sum_is_held_whatever_the_number_of_parts() -> None:
    """A part's sketch is as large as the sum's, and in a tree one more would wait for each eightfold."""
    alive: WeakSet[Any] = WeakSet()
    most: list[int] = []

    class Counted(FrequentDirectionsMoments):
        def observe(self, batch: Batch[Any]) -> None:
            alive.add(self)
            most.append(len(alive))
            super().observe(batch)

    X = decaying(140, 30)
    accumulate(Counted(4, 30, buffer_rows=8), MatrixCorpus(X, n_partitions=70))
    assert max(most) == 2  # the sum and the next part


def test_a_shrink_takes_no_memory_for_each_row() -> None:
    rows = sp.random(12_000, 1000, 0.001, format="csr", random_state=0, dtype=np.float32)
    stack = randomised.Stack(np.zeros((0, 1000), np.float32), rows)
    size, rng = 100, np.random.default_rng(0)
    randomised.shrink_by_directions(stack, size, rng)  # compiles
    tracemalloc.start()
    randomised.shrink_by_directions(stack, size, rng)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 12_000 * (size + randomised.OVERSAMPLING)


def test_sparse_rows_wait_until_they_are_many_or_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("spectralnlp_sketch.frequent_directions.moments.MAX_ENTRIES", 100)
    X = sp.random_array((60, 40), density=0.2, format="csr", rng=np.random.default_rng(0))
    whole = add(empty(X, 4, "randomised", sparse=True, buffer_rows=50), X)
    pieces = empty(X, 4, "randomised", sparse=True, buffer_rows=50)
    for low in range(0, 60, 7):
        add(pieces, X[low : low + 7], low)
    arrays, others = whole.arrays(), pieces.arrays()
    assert arrays["waiting_data"].size < 100 < X.nnz
    assert all(arrays[name].tobytes() == others[name].tobytes() for name in arrays if name != "totals")


def test_randomised_gives_the_same_bytes_for_the_same_seed_only() -> None:
    X = decaying(400, 120)

    def run(seed: int) -> bytes:
        return add(empty(X, 10, "randomised", buffer_rows=200, seed=seed), X).sketch.rows.tobytes()

    assert run(0) == run(0) != run(1)


def test_the_residual_norm_is_an_upper_estimate() -> None:
    A = decaying(300, 80)
    for rows in (A[10:], sp.csr_matrix(A[10:])):
        stack = randomised.Stack(A[:10], rows)
        for seed in range(10):
            rng = np.random.default_rng(seed)
            basis = np.linalg.qr(rng.standard_normal((80, 5)))[0]
            found = randomised.nystrom(basis, stack.gram_times(basis))
            shown = found.image @ found.root
            values = np.linalg.eigvalsh(A.T @ A - shown @ shown.T)
            assert values[0] > -1e-10
            estimates = [*randomised._residual_norms(stack, found, rng)]
            assert values[-1] <= estimates[-1] < estimates[0] <= 8 * values[-1]
            assert estimates[-1] <= 2 * values[-1]


def test_orthonormal_drops_what_depends() -> None:
    columns = np.random.default_rng(0).standard_normal((40, 6))
    columns[:, 5] = columns[:, 0] * 1e9
    basis = randomised.orthonormal(columns)
    assert basis.shape == (40, 5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_kernels_agree_with_scipy(dtype: type) -> None:
    X = sp.random(30, 20, 0.2, format="csr", random_state=0, dtype=dtype)
    right = np.random.default_rng(0).standard_normal((20, 7)).astype(dtype)
    result = np.empty((30, 7), dtype=dtype)
    kernels.times(X.indptr, X.indices, X.data, right, result)
    np.testing.assert_allclose(result, X @ right, rtol=1e-5)
    back = np.ones((20, 7), dtype=dtype)
    kernels.add_transposed_times(X.indptr, X.indices, X.data, result, back)
    np.testing.assert_allclose(back, 1 + X.T @ result, rtol=1e-4)
    eight = np.random.default_rng(0).standard_normal((20, 8)).astype(dtype)
    added = np.ones((20, 8), dtype=dtype)
    kernels.add_gram_times_lanes(X.indptr, X.indices, X.data, eight.ravel(), added.ravel())
    np.testing.assert_allclose(added, 1 + X.T @ (X @ eight), rtol=1e-4, atol=1e-5)
    gram = np.ones((20, 20))
    kernels.add_gram(X.indptr, X.indices, X.data.astype(np.float64), gram)
    np.testing.assert_allclose(gram, 1 + (X.T @ X).toarray(), rtol=1e-5)


def test_few_columns_are_sketched_exactly() -> None:
    X = decaying(200, 30)
    sketch = FrequentDirections(sketch_size=30).fit(X)
    assert sketch.method_ == "gram"
    assert sketch.measured_error(X) <= 1e-10 * (X**2).sum()
    narrow = FrequentDirections(sketch_size=5).fit(X)
    best = np.linalg.eigvalsh(X.T @ X)[-6]
    assert narrow.bound_ == pytest.approx(best)
    assert narrow.measured_error(X) == pytest.approx(best)


def test_many_columns_are_not_squared() -> None:
    X = sp.random(300, 5000, 0.01, format="csr", random_state=0)
    sketch = FrequentDirections(sketch_size=6).fit(X)
    assert sketch.method_ == "randomised"
    assert sketch.measured_error(X) <= sketch.bound_ * (1 + 1e-6)


def test_the_measured_error_is_the_norm_of_the_difference() -> None:
    X = decaying(60, 40)
    B = X[:10]
    expected = np.abs(np.linalg.eigvalsh(X.T @ X - B.T @ B)).max()
    assert covariance_error(X, B) == pytest.approx(expected)
    wide = sp.csr_matrix(np.hstack([X, np.zeros((60, 3000))]))
    assert covariance_error(wide, wide[:10].toarray()) == pytest.approx(expected, rel=1e-3)
