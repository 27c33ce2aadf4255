"""Heads, linear classifiers over sparse and dense features, by dual coordinate ascent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.jit import LANES, padded
from spectralnlp.runtime import map_kernels
from spectralnlp_sketch.intent.head_kernels import add_duals, ascend, separate

Array32 = NDArray[np.float32]

# Examples whose margins were within this share of the tolerance wait until the others are done.
QUIET = 0.2
# The first so many passes of support vector machines visit all examples: then weights tell which can wait.
WHOLE_PASSES = 2
# All are visited until none was further off than so many tolerances: another visit changes hardly a label.
NEARLY = 6
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

    def with_more(self, more: Features) -> Features:
        """These texts and others behind them."""
        sparse = sp.csr_array(sp.vstack([self.sparse, more.sparse], format="csr"))
        return Features(sparse, np.vstack([self.dense, more.dense]))


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
        targets, weights = np.vstack([self.targets, more.targets]), np.append(self.weights, more.weights)
        return Examples(self.features.with_more(more.features), targets, weights)


class Weights(NamedTuple):
    """Linear scores of classes.

    Args:
        sparse: float32 (columns, n_classes).
        dense: float32 (d, n_classes).
        bias: float32 (n_classes,).
        duals: float32 (n, n_classes); how much each example that was learned from adds to them.
    """

    sparse: Array32
    dense: Array32
    bias: Array32
    duals: Array32

    def scores(self, features: Features) -> Array32:
        """float32 (n, n_classes)."""
        return features.sparse @ self.sparse + features.dense @ self.dense + self.bias


class Learned(NamedTuple):
    """A head, and what it was learned from.

    Args:
        weights: the head.
        examples: those that it was learned from.
        numbers: int64 (n,), ascending; which of all examples those are.
    """

    weights: Weights
    examples: Examples
    numbers: NDArray[np.int64]

    def duals_of(self, others: Examples, numbers: NDArray[np.int64]) -> Array32:
        """Return what `fit_head` begins with where it learns from other examples, float32 (m, n_classes).

        Zeros for an example that is new, or of which something else is wanted.

        Args:
            others: examples to learn from.
            numbers: int64 (m,), ascending; which of all examples those are.
        """
        place = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        same = self.numbers[place] == numbers
        same &= (self.examples.targets[place] == others.targets).all(axis=1)
        scale = np.where(same, others.weights / self.examples.weights[place], np.float32(0.0))
        return np.asarray(self.weights.duals[place] * scale[:, None], np.float32)


def fit_head(
    examples: Examples,
    *,
    C: float = 10.0,
    likeness: Array32 | None = None,
    passes: int = MOST_PASSES,
    tolerance: float = 0.01,
    random_state: int = 0,
    start: Array32 | None = None,
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
        start: float32 (n, n_classes); duals to begin with, None for zeros; see `Learned`.
    """
    rows, n_classes = _Rows.of(examples), examples.targets.shape[1]
    alike = np.eye(n_classes, dtype=np.float32) if likeness is None else likeness
    weights = np.zeros((rows.width, padded(n_classes)), np.float32)
    duals = np.zeros((len(examples.weights), n_classes), np.float32) if start is None else start.copy()
    if start is not None:
        weights[:, :n_classes] = rows.transposed_product(np.float32(C) * (duals @ alike))
    rng = np.random.default_rng(random_state)
    for _ in range(passes):
        order = rng.permutation(len(duals))
        missing = ascend(*rows.arrays, examples.targets, examples.weights, C, alike, order, weights, duals)
        if missing < tolerance:
            break
    learned = rows.zeros(duals.shape)._replace(duals=duals)
    rows.unpack(weights[:, :n_classes], learned, slice(n_classes))
    return learned


def fit_svm(
    examples: Examples,
    *,
    C: float = 1.0,
    passes: int = MOST_PASSES,
    tolerance: float = 0.05,
    random_state: int = 0,
    start: Array32 | None = None,
) -> Weights:
    """Minimise C Σ wᵢ Σ_c max(0, 1 − s_ic f_c(xᵢ))² + ½‖W‖², s_ic being 1 for an example's class and −1 else.

    Hsieh et al. 2008, *A dual coordinate descent method for large-scale linear SVM*, for eight classes at a
    time, whose weights stay in the processor's cache. Examples that nothing is learned from are passed over
    until the others are done (section 3.2 there). The bias is the weight of a constant feature of 1.

    Args:
        examples: texts; the likeliest class of what is wanted counts.
        C: weight of the loss.
        passes: over the examples, at most.
        tolerance: stop when no example's margin was further from where it should be; see `NEARLY`.
        random_state: seed of the order.
        start: float32 (n, n_classes); duals to begin with, None for zeros.
    """
    classes, n_classes = examples.targets.argmax(axis=1), examples.targets.shape[1]
    whole = WHOLE_PASSES if start is None else 0
    duals = np.zeros((len(classes), n_classes), np.float32) if start is None else start
    is_new = np.asarray(~duals.any(axis=1))
    rows, costs = _Rows.of(examples), np.float32(C) * examples.weights
    machines = _Machines(rows, costs, is_new, passes, whole, tolerance, random_state)

    learned = rows.zeros(duals.shape)

    def eight(first: int) -> None:
        some = slice(first, first + LANES)
        weights, learned.duals[:, some] = machines.learn(classes - first, duals[:, some])
        rows.unpack(weights, learned, some)

    for _ in map_kernels(eight, range(0, n_classes, LANES)):
        pass
    return learned


def signed(duals: Array32, classes: NDArray[np.int64] | Sequence[int]) -> Array32:
    """Duals of `fit_svm` as examples add them to weights: negative for all classes but their own.

    Args:
        duals: float32 (n, n_classes).
        classes: (n,); of each example.
    """
    signs = np.full(duals.shape, -1.0, np.float32)
    signs[np.arange(len(duals)), classes] = 1.0
    return duals * signs


class _Machines(NamedTuple):
    """How support vector machines of eight classes learn.

    Args:
        rows: features of the examples.
        costs: float32 (n,); weight of each example's loss.
        is_new: bool (n,); examples whose duals are all 0 to begin with.
        passes: over the examples, at most.
        whole: passes that visit all examples, before those that nothing is learned from have to wait.
        tolerance: as of `fit_svm`.
        random_state: seed of the order.
    """

    rows: _Rows
    costs: Array32
    is_new: NDArray[np.bool_]
    passes: int
    whole: int
    tolerance: float
    random_state: int

    def learn(self, classes: NDArray[np.int64], start: Array32) -> tuple[Array32, Array32]:
        """Return weights (features, n_classes) and duals (n, n_classes) from duals to begin with."""
        n, n_classes = start.shape
        weights, duals = np.zeros((self.rows.width, LANES), np.float32), start.copy()
        add_duals(*self.rows.arrays[:4], classes, duals, weights)
        violations = np.where(self.is_new, np.inf, 0.0).astype(np.float32)  # what is known waits at first
        rng, every, worst = np.random.default_rng(self.random_state), np.arange(n), np.inf

        def visit(some: NDArray[np.int64]) -> float:
            found = weights, duals, violations
            return float(separate(*self.rows.arrays, classes, self.costs, some, *found))

        for n_passes in range(self.passes):
            order = rng.permutation(n)
            if n_passes >= self.whole:
                order = order[violations[order] > QUIET * self.tolerance]
            if visit(order) < self.tolerance:
                if worst < NEARLY * self.tolerance:
                    break
                worst = visit(every)
                if worst < self.tolerance:
                    break
        return weights[:, :n_classes], duals


class _Rows(NamedTuple):
    """Features of examples as kernels take them, with a constant one for the bias.

    Args:
        arrays: indptr, columns among those that are used, values, the dense part and squared lengths.
        used: int64; the columns that are used.
        n_columns: how many there are.
    """

    arrays: tuple[NDArray[Any], ...]
    used: NDArray[np.int64]
    n_columns: int

    @classmethod
    def of(cls, examples: Examples) -> _Rows:
        sparse, dense = examples.features
        n, n_columns = sparse.shape
        used = np.flatnonzero(np.bincount(sparse.indices, minlength=n_columns))
        place = np.empty(n_columns, np.int32)
        place[used] = np.arange(len(used))
        dense = np.hstack([dense, np.ones((n, 1), np.float32)])
        squares = np.einsum("ij,ij->i", dense, dense) + np.asarray(sparse.power(2).sum(axis=1)).ravel()
        indptr = sparse.indptr.astype(np.int64)
        arrays = indptr, place[sparse.indices], sparse.data, dense, squares.astype(np.float32)
        return cls(arrays, used, n_columns)

    @property
    def width(self) -> int:
        """How many features are used."""
        return len(self.used) + self.arrays[3].shape[1]

    def transposed_product(self, duals: Array32) -> Array32:
        """The sum of outer products of each example's features and its row, (width, n_classes)."""
        indptr, indices, data, dense, _ = self.arrays
        sparse = sp.csr_array((data, indices, indptr), (len(dense), len(self.used)))
        return np.vstack([sparse.T @ duals, dense.T @ duals])

    def zeros(self, shape: tuple[int, int]) -> Weights:
        """Weights and duals of all columns, for so many examples and classes."""
        n_dense, n_classes = self.arrays[3].shape[1] - 1, shape[1]
        shapes = (self.n_columns, n_classes), (n_dense, n_classes), (n_classes,), shape
        return Weights(*(np.zeros(each, np.float32) for each in shapes))

    def unpack(self, weights: Array32, into: Weights, classes: slice) -> None:
        """Write weights of some classes, (width, n_classes), of the features that are used."""
        n = len(self.used)
        into.sparse[self.used, classes] = weights[:n]
        into.dense[:, classes], into.bias[classes] = weights[n:-1], weights[-1]
