"""Train linear classifiers (heads) over sparse and dense features, by dual coordinate ascent."""

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

# Examples whose margin violation is below this share of the tolerance are skipped until the others converge.
QUIET = 0.2
# Number of initial passes of a support vector machine that visit all examples and skip none.
WHOLE_PASSES = 2
# Full passes end once violations are below this many tolerances; one more would hardly change a label.
NEARLY = 6
# Maximum number of passes over the examples; most heads need about ten.
MAX_PASSES = 60


class Features(NamedTuple):
    """Sparse and dense features of texts, the input of the linear classifier (head).

    Args:
        sparse: sparse features in CSR, float32 (n, columns).
        dense: dense features, float32 (n, d).
    """

    sparse: sp.csr_array
    dense: Array32

    def __len__(self) -> int:
        return int(self.dense.shape[0])

    def rows(self, which: NDArray[Any]) -> Features:
        """Return the features of the texts with the given indices, or for which a mask is true."""
        return Features(self.sparse[which], self.dense[which])

    def with_columns(self, places: NDArray[np.int64], n_columns: int) -> Features:
        """Return the features with sparse columns moved to new indices, for a vocabulary that has grown.

        Args:
            places: new index of each sparse column, int64 (columns,), ascending.
            n_columns: new number of sparse columns.
        """
        indices = places.astype(np.int32)[self.sparse.indices]
        shape = (len(self), n_columns)
        return Features(
            sp.csr_array((self.sparse.data, indices, self.sparse.indptr), shape=shape), self.dense
        )

    def with_more(self, more: Features) -> Features:
        """Return the features of these texts followed by those of ``more`` texts."""
        sparse = sp.csr_array(sp.vstack([self.sparse, more.sparse], format="csr"))
        return Features(sparse, np.vstack([self.dense, more.dense]))


class Examples(NamedTuple):
    """Training examples of the head: features, target distributions and weights of texts.

    Args:
        features: features of n texts.
        targets: target distributions over classes, float32 (n, n_classes); each row sums to one.
        weights: positive weights of examples, float32 (n,).
    """

    features: Features
    targets: Array32
    weights: Array32

    def rows(self, which: NDArray[Any]) -> Examples:
        """Return the examples with the given indices, or for which a mask is true."""
        return Examples(self.features.rows(which), self.targets[which], self.weights[which])

    def with_more(self, more: Examples) -> Examples:
        """Return these examples followed by ``more``."""
        targets, weights = np.vstack([self.targets, more.targets]), np.append(self.weights, more.weights)
        return Examples(self.features.with_more(more.features), targets, weights)


class Weights(NamedTuple):
    """Weights of a linear classifier.

    Args:
        sparse: weights of sparse features, float32 (columns, n_classes).
        dense: weights of dense features, float32 (d, n_classes).
        bias: biases of classes, float32 (n_classes,).
        duals: dual variables of the training examples, float32 (n, n_classes).
    """

    sparse: Array32
    dense: Array32
    bias: Array32
    duals: Array32

    def scores(self, features: Features) -> Array32:
        """Return the scores of classes for texts, float32 (n, n_classes), from their features."""
        return features.sparse @ self.sparse + features.dense @ self.dense + self.bias


class Learned(NamedTuple):
    """Trained linear classifier (head) with the n examples that it was trained on.

    Args:
        weights: weights of the head.
        examples: the training examples, which may be a part of a larger collection.
        numbers: index of each training example in that collection, int64 (n,), ascending.
    """

    weights: Weights
    examples: Examples
    numbers: NDArray[np.int64]

    def duals_of(self, others: Examples, numbers: NDArray[np.int64]) -> Array32:
        """Return dual variables from which training on m other examples can start, float32 (m, n_classes).

        An example that this head was trained on, with the same target, keeps its duals; they are rescaled if
        its weight has changed. All other examples get zeros.

        Args:
            others: the m examples to train on next.
            numbers: indices of these examples, int64 (m,), counted as in ``self.numbers``.
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
    label_similarity: Array32 | None = None,
    passes: int = MAX_PASSES,
    tolerance: float = 0.01,
    random_state: int = 0,
    start: Array32 | None = None,
) -> Weights:
    """Train a linear classifier (head) by multinomial logistic regression, and return its weights W.

    W minimises C Σᵢ wᵢ ℓᵢ + ½ tr(W K⁻¹ Wᵀ), where wᵢ is the weight of example i, and ℓᵢ the cross-entropy of
    its target and the softmax of its scores.

    Shalev-Shwartz and Zhang 2013, *Stochastic dual coordinate ascent methods for regularized loss
    minimization*, with the step length that maximises the dual. The bias is the weight of a constant feature
    of 1. The kernel K lets similar classes share weights: Evgeniou, Micchelli and Pontil 2005, *Learning
    multiple tasks with kernel methods*, section 3.

    Args:
        examples: texts with their targets.
        C: weight of the loss.
        label_similarity: similarity K of classes, float32 (n_classes, n_classes), positive definite;
            None for the identity.
        passes: maximum number of passes over the examples.
        tolerance: stop when the mean distance of the duals from their optimum is below this.
        random_state: seed of the order of examples.
        start: initial duals, float32 (n, n_classes), for example from `Learned.duals_of`; None for zeros.
    """
    rows, n_classes = _Rows.of(examples), examples.targets.shape[1]
    alike = np.eye(n_classes, dtype=np.float32) if label_similarity is None else label_similarity
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
    passes: int = MAX_PASSES,
    tolerance: float = 0.05,
    random_state: int = 0,
    start: Array32 | None = None,
) -> Weights:
    """Train one linear support vector machine per class, against all other classes; return the weights W.

    W minimises C Σᵢ wᵢ Σ_c max(0, 1 − s_ic f_c(xᵢ))² + ½‖W‖², where wᵢ is the weight of example i, f_c(xᵢ)
    its score for class c, and s_ic is 1 if c is the class of the example, else −1.

    Hsieh et al. 2008, *A dual coordinate descent method for large-scale linear SVM*, applied to eight classes
    at a time, whose weights stay in the processor's cache. Examples that no longer change the weights are
    skipped until the remaining examples converge (shrinking, section 3.2). The bias is the weight of a
    constant feature of 1.

    Args:
        examples: texts; the class of an example is the likeliest of its target.
        C: weight of the loss.
        passes: maximum number of passes over the examples.
        tolerance: stop when no margin violation exceeds this.
        random_state: seed of the order of examples.
        start: initial duals, float32 (n, n_classes), None for zeros.
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
    """Return coefficients A for which the weights of `fit_svm` are XᵀA, float32 (n, n_classes).

    The rows of X are the features of the examples. The coefficients are the duals, multiplied by −1 for
    classes that the example does not belong to.

    Args:
        duals: duals of examples, not negative, float32 (n, n_classes).
        classes: class of each example (n,).
    """
    signs = np.full(duals.shape, -1.0, np.float32)
    signs[np.arange(len(duals)), classes] = 1.0
    return duals * signs


class _Machines(NamedTuple):
    """Trainer of support vector machines for up to eight classes at a time, by dual coordinate descent.

    Args:
        rows: features of the examples.
        costs: weight of each example's loss, float32 (n,).
        is_new: whether an example is new, so that its initial duals are all 0, bool (n,).
        passes: maximum number of passes over the examples.
        whole: number of initial passes that visit all examples; if 0, the first visits only new examples.
        tolerance: as for `fit_svm`.
        random_state: seed of the order of examples.
    """

    rows: _Rows
    costs: Array32
    is_new: NDArray[np.bool_]
    passes: int
    whole: int
    tolerance: float
    random_state: int

    def learn(self, classes: NDArray[np.int64], start: Array32) -> tuple[Array32, Array32]:
        """Train support vector machines for n_classes ≤ 8 consecutive classes, from initial duals.

        Args:
            classes: number of each example's class minus that of the first class to train, int64 (n,);
                numbers outside 0 to 7 stand for classes that are not trained here.
            start: initial duals, float32 (n, n_classes).

        Returns:
            Weights, float32 (features, n_classes), and duals, float32 (n, n_classes).
        """
        n, n_classes = start.shape
        weights, duals = np.zeros((self.rows.width, LANES), np.float32), start.copy()
        add_duals(*self.rows.arrays[:4], classes, duals, weights)
        violations = np.where(self.is_new, np.inf, 0.0).astype(
            np.float32
        )  # known examples are skipped at first
        rng, every, worst = np.random.default_rng(self.random_state), np.arange(n), np.inf

        def visit(some: NDArray[np.int64]) -> float:
            results = weights, duals, violations
            return float(separate(*self.rows.arrays, classes, self.costs, some, *results))

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
    """Features of examples as arrays for kernels, with a constant feature for the bias.

    Sparse columns that occur in no example are left out, so that the arrays of weights stay small.

    Args:
        arrays: indptr, indices and data of the sparse features in CSR, with the occurring columns
            renumbered; dense features, with a last column of 1; squared length of each example's features.
        used: sparse columns that occur in the examples, int64, ascending.
        n_columns: number of all sparse columns.
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
        """Number of features in use, sparse columns and dense ones."""
        return len(self.used) + self.arrays[3].shape[1]

    def transposed_product(self, duals: Array32) -> Array32:
        """Return the product Xᵀ D (width, n_classes) of the features X and duals D of the examples."""
        indptr, indices, data, dense, _ = self.arrays
        sparse = sp.csr_array((data, indices, indptr), (len(dense), len(self.used)))
        return np.vstack([sparse.T @ duals, dense.T @ duals])

    def zeros(self, shape: tuple[int, int]) -> Weights:
        """Return weights and duals of 0, to be filled by `unpack`.

        Args:
            shape: number of examples and number of classes.
        """
        n_dense, n_classes = self.arrays[3].shape[1] - 1, shape[1]
        shapes = (self.n_columns, n_classes), (n_dense, n_classes), (n_classes,), shape
        return Weights(*(np.zeros(each, np.float32) for each in shapes))

    def unpack(self, weights: Array32, into: Weights, classes: slice) -> None:
        """Copy weights of the features in use, for some classes, into weights of all features and classes.

        Args:
            weights: weights of the features in use, float32 (width, n_classes).
            into: weights of all features and classes, updated in place.
            classes: range of the classes in ``into``.
        """
        n = len(self.used)
        into.sparse[self.used, classes] = weights[:n]
        into.dense[:, classes], into.bias[classes] = weights[n:-1], weights[-1]
