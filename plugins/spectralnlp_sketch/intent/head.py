"""Heads, linear classifiers over sparse and dense features, by dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp_sketch.intent.kernels import ascend, separate

Array32 = NDArray[np.float32]

# Examples whose margins were within this share of the tolerance wait until the others are done.
QUIET = 0.2
# Passes over the examples, at most; most heads need about ten.
MOST_PASSES = 60


class Features(NamedTuple):
    """Features of texts, as the head sees them.

    Args:
        sparse: CSR, float32 (n, columns).
        dense: float32 (n, d).
    """

    sparse: sp.csr_array
    dense: Array32

    def __len__(self) -> int:
        return int(self.dense.shape[0])

    def rows(self, which: NDArray[Any]) -> Features:
        """Some of the texts."""
        return Features(self.sparse[which], self.dense[which])


class Examples(NamedTuple):
    """Examples that the head learns from.

    Args:
        features: of n texts.
        targets: float32 (n, n_classes); the wanted distributions over classes; rows sum to one.
        weights: float32 (n,); positive.
    """

    features: Features
    targets: Array32
    weights: Array32

    def rows(self, which: NDArray[Any]) -> Examples:
        """Some of the examples."""
        return Examples(self.features.rows(which), self.targets[which], self.weights[which])

    def with_more(self, more: Examples) -> Examples:
        """These and others behind them."""
        sparse = sp.csr_array(sp.vstack([self.features.sparse, more.features.sparse], format="csr"))
        dense = np.vstack([self.features.dense, more.features.dense])
        targets, weights = np.vstack([self.targets, more.targets]), np.append(self.weights, more.weights)
        return Examples(Features(sparse, dense), targets, weights)


class Weights(NamedTuple):
    """Linear scores of classes.

    Args:
        sparse: float32 (columns, n_classes).
        dense: float32 (d, n_classes).
        bias: float32 (n_classes,).
    """

    sparse: Array32
    dense: Array32
    bias: Array32

    def scores(self, features: Features) -> Array32:
        """float32 (n, n_classes)."""
        return features.sparse @ self.sparse + features.dense @ self.dense + self.bias


def fit_head(
    examples: Examples,
    *,
    C: float = 10.0,
    likeness: Array32 | None = None,
    passes: int = MOST_PASSES,
    tolerance: float = 0.01,
    random_state: int = 0,
) -> Weights:
    """Minimise C Σ wᵢ ℓᵢ + ½ tr(W K⁻¹ Wᵀ), ℓᵢ the cross-entropy of what is wanted and the softmax of scores.

    Shalev-Shwartz and Zhang 2013, *Stochastic dual coordinate ascent methods for regularized loss
    minimization*, whose step toward the softmax is here as long as helps the dual most. The bias
    is the weight of a constant feature of 1. Classes that are alike share what they learn: Evgeniou,
    Micchelli and Pontil 2005, *Learning multiple tasks with kernel methods*, section 3.

    Args:
        examples: texts and what is wanted of them.
        C: weight of the loss.
        likeness: K, float32 (n_classes, n_classes), symmetric, positive definite; None for the identity.
        passes: over the examples, at most.
        tolerance: stop when an example's dual is so near to the difference of the two distributions that it
            should be, on the average.
        random_state: seed of the order.
    """
    targets, weights = examples.targets, examples.weights
    alike = np.eye(targets.shape[1], dtype=np.float32) if likeness is None else likeness

    def one_pass(problem: _Problem, order: NDArray[np.int64]) -> float:
        return float(ascend(*problem.rows, targets, weights, C, alike, order, problem.weights, problem.duals))

    return _solve(examples, one_pass, passes, tolerance, random_state)


def fit_svm(
    examples: Examples,
    *,
    C: float = 1.0,
    passes: int = MOST_PASSES,
    tolerance: float = 0.05,
    random_state: int = 0,
) -> Weights:
    """Minimise C Σ wᵢ Σ_c max(0, 1 − s_ic f_c(xᵢ))² + ½‖W‖², s_ic being 1 for an example's class and −1 else.

    Hsieh et al. 2008, *A dual coordinate descent method for large-scale linear SVM*, for all classes in one
    pass: an example's scores are summed once, and few classes have anything to learn from it. Examples that
    nothing is learned from are passed over until the others are done (section 3.2 there). The bias is the
    weight of a constant feature of 1.

    Args:
        examples: texts; the likeliest class of what is wanted counts.
        C: weight of the loss.
        passes: over the examples, at most.
        tolerance: stop when no example's margin was further from where it should be.
        random_state: seed of the order.
    """
    classes = examples.targets.argmax(axis=1)
    costs = np.float32(C) * examples.weights
    violations = np.full(len(classes), np.inf, np.float32)

    def one_pass(problem: _Problem, order: NDArray[np.int64]) -> float:
        def visit(some: NDArray[np.int64]) -> float:
            found = problem.weights, problem.duals, violations
            return float(separate(*problem.rows, classes, costs, some, *found))

        moving = order[violations[order] > QUIET * tolerance]
        worst = visit(moving)
        return visit(order) if worst < tolerance and len(moving) < len(order) else worst

    return _solve(examples, one_pass, passes, tolerance, random_state)


class _Problem(NamedTuple):
    """Arrays as kernels take them.

    Args:
        rows: indptr, columns among those that are used, values, the dense part and squared lengths.
        weights: float32 (used columns + d + 1, n_classes).
        duals: float32 (n, n_classes).
    """

    rows: tuple[NDArray[Any], ...]
    weights: Array32
    duals: Array32


def _solve(
    examples: Examples,
    one_pass: Callable[[_Problem, NDArray[np.int64]], float],
    passes: int,
    tolerance: float,
    random_state: int,
) -> Weights:
    """Weights after passes over the examples in random orders, until one changes little."""
    sparse, dense = examples.features
    n, n_columns = sparse.shape
    n_classes = examples.targets.shape[1]
    used, columns = np.unique(sparse.indices, return_inverse=True)
    dense = np.hstack([dense, np.ones((n, 1), np.float32)])
    squares = np.einsum("ij,ij->i", dense, dense) + np.asarray(sparse.power(2).sum(axis=1)).ravel()
    problem = _Problem(
        rows=(
            sparse.indptr.astype(np.int64),
            columns.astype(np.int64),
            sparse.data,
            dense,
            squares.astype(np.float32),
        ),
        weights=np.zeros((len(used) + dense.shape[1], n_classes), np.float32),
        duals=np.zeros((n, n_classes), np.float32),
    )
    rng = np.random.default_rng(random_state)
    for _ in range(passes):
        if one_pass(problem, rng.permutation(n)) < tolerance:
            break
    of_sparse = np.zeros((n_columns, n_classes), np.float32)
    of_sparse[used] = problem.weights[: len(used)]
    return Weights(of_sparse, problem.weights[len(used) : -1], problem.weights[-1])
