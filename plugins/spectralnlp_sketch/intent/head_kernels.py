"""Compiled functions (kernels) that train logistic regression and SVMs by dual coordinate ascent."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import LANES, kernel, kernel_part, load_lanes, multiply_add, repeat, store_lanes
from spectralnlp_sketch.intent.kernels import add_rows, softmax

_MAX_STEPS = 40
_LEAST = 1e-30


@kernel_part
def score_example(indptr, indices, data, dense, i, weights, scores):
    """Compute the scores of one example from its sparse and dense features, and write them to ``scores``.

    Scores are accumulated for 32 classes at a time, then for the remaining classes in groups of eight.

    Args:
        indptr, indices, data, dense: as in `ascend`.
        i: number of the example.
        weights: as in `ascend`.
        scores: output scores, float32 (padded n_classes,).
    """
    first_dense, n_classes = len(weights) - dense.shape[1], weights.shape[1]
    y = 0
    while y + 4 * LANES <= n_classes:
        a = b = c = d = repeat(np.float32(0))
        for at in range(indptr[i], indptr[i + 1]):
            factor, place = repeat(data[at]), indices[at] * n_classes + y
            a = multiply_add(factor, load_lanes(weights, place), a)
            b = multiply_add(factor, load_lanes(weights, place + LANES), b)
            c = multiply_add(factor, load_lanes(weights, place + 2 * LANES), c)
            d = multiply_add(factor, load_lanes(weights, place + 3 * LANES), d)
        for j in range(dense.shape[1]):
            factor, place = repeat(dense[i, j]), (first_dense + j) * n_classes + y
            a = multiply_add(factor, load_lanes(weights, place), a)
            b = multiply_add(factor, load_lanes(weights, place + LANES), b)
            c = multiply_add(factor, load_lanes(weights, place + 2 * LANES), c)
            d = multiply_add(factor, load_lanes(weights, place + 3 * LANES), d)
        store_lanes(scores, y, a)
        store_lanes(scores, y + LANES, b)
        store_lanes(scores, y + 2 * LANES, c)
        store_lanes(scores, y + 3 * LANES, d)
        y += 4 * LANES
    for last in range(y, n_classes, LANES):
        a = repeat(np.float32(0))
        for at in range(indptr[i], indptr[i + 1]):
            a = multiply_add(repeat(data[at]), load_lanes(weights, indices[at] * n_classes + last), a)
        for j in range(dense.shape[1]):
            a = multiply_add(
                repeat(dense[i, j]), load_lanes(weights, (first_dense + j) * n_classes + last), a
            )
        store_lanes(scores, last, a)


@kernel_part
def add_change(indptr, indices, data, dense, i, change, weights):
    """Add the product of an example's features and ``change`` (one number per class) to the weights.

    Args:
        change: change of the classes' weights, float32 (padded n_classes,).
        indptr, indices, data, dense, i, weights: as in `score_example`.
    """
    first_dense, n_classes = len(weights) - dense.shape[1], weights.shape[1]
    for at in range(indptr[i], indptr[i + 1]):
        factor = repeat(data[at])
        for y in range(0, n_classes, LANES):
            place = indices[at] * n_classes + y
            moved = multiply_add(factor, load_lanes(change, y), load_lanes(weights, place))
            store_lanes(weights, place, moved)
    for j in range(dense.shape[1]):
        factor = repeat(dense[i, j])
        for y in range(0, n_classes, LANES):
            place = (first_dense + j) * n_classes + y
            moved = multiply_add(factor, load_lanes(change, y), load_lanes(weights, place))
            store_lanes(weights, place, moved)


@kernel
def best_step(target, dual, change, scores, weight, curvature):
    """Return the step s in [0, 1] along ``change`` that maximises the dual objective, by Newton's method.

    With q(s) = target − (dual + s·change)/weight, the slope of the objective is
    Σ change·(ln q(s) − scores) − curvature·s.

    Args:
        target: target distribution of the example (n_classes,).
        dual: dual variables of the example (n_classes,).
        change: direction in which the duals are changed (n_classes,).
        scores: scores of the example (n_classes,).
        weight: weight of the example's loss.
        curvature: second derivative of the regularisation along ``change``.
    """
    low, high, s = 0.0, 1.0, 0.5
    for _ in range(_MAX_STEPS):
        slope, bend = -curvature * s, -curvature
        for c in range(len(change)):
            q = max(target[c] - (dual[c] + s * change[c]) / weight, _LEAST)
            slope += change[c] * (np.log(q) - scores[c])
            bend -= change[c] * change[c] / (weight * q)
        if slope > 0:
            low = s
        else:
            high = s
        following = s - slope / bend
        if not low < following < high:  # the best step may be smaller by orders of magnitude
            following = (low + high) / 2 if low > 0 else high / 8
        if abs(following - s) <= 1e-3 * s:
            return following
        s = following
    return low


@kernel
def ascend(
    indptr, indices, data, dense, squares, targets, sample_weights, C, label_similarity, order, weights, duals
):
    """Run one pass of dual coordinate ascent, and return the mean distance of duals from their optimum.

    Args:
        indptr, indices, data: sparse features in CSR, float32.
        dense: dense features, float32 (n, d).
        squares: squared length of each example's features, float32 (n,).
        targets: target distributions over classes, float32 (n, n_classes).
        sample_weights: positive weights of examples, float32 (n,).
        C: weight of the loss relative to half the sum of squared weights.
        label_similarity: positive definite kernel of classes, float32 (n_classes, n_classes).
        order: numbers of the examples to visit, in order, int64.
        weights: weights, float32 (sparse columns + d, padded n_classes); updated in place.
        duals: dual variables, float32 (n, n_classes); updated in place.
    """
    n_classes = duals.shape[1]
    classes = np.arange(n_classes)
    scores, shared = np.zeros(weights.shape[1], np.float32), np.zeros(weights.shape[1], np.float32)
    probabilities, change = np.empty(n_classes, np.float32), np.empty(n_classes, np.float32)
    missing = 0.0
    for i in order:
        score_example(indptr, indices, data, dense, i, weights, scores)
        probabilities[:] = scores[:n_classes]
        softmax(probabilities)
        weight, size = sample_weights[i], np.float32(0.0)
        shared[:] = 0.0
        for c in range(n_classes):
            change[c] = weight * (targets[i, c] - probabilities[c]) - duals[i, c]
        add_rows(label_similarity, classes, change, 0, n_classes, shared[:n_classes])
        for c in range(n_classes):
            size += change[c] * shared[c]
        if size < 1e-10:
            continue
        s = np.float32(
            best_step(targets[i], duals[i], change, scores, weight, np.float64(C * squares[i] * size))
        )
        for c in range(n_classes):
            missing += abs(change[c])
            duals[i, c] += s * change[c]
            shared[c] *= np.float32(C) * s
        add_change(indptr, indices, data, dense, i, shared, weights)
    return missing / len(order)


@kernel_part
def score_eight(indptr, indices, data, dense, i, weights, scores):
    """Write the scores of one example for eight classes; the arguments are those of `score_example`.

    Four features are accumulated at a time, so that the additions do not wait for each other.
    """
    first_dense = len(weights) - dense.shape[1]
    one = repeat(np.float32(1))
    a = b = c = d = repeat(np.float32(0))
    at, end = indptr[i], indptr[i + 1]
    while at + 4 <= end:
        a = multiply_add(repeat(data[at]), load_lanes(weights, indices[at] * LANES), a)
        b = multiply_add(repeat(data[at + 1]), load_lanes(weights, indices[at + 1] * LANES), b)
        c = multiply_add(repeat(data[at + 2]), load_lanes(weights, indices[at + 2] * LANES), c)
        d = multiply_add(repeat(data[at + 3]), load_lanes(weights, indices[at + 3] * LANES), d)
        at += 4
    while at < end:
        a = multiply_add(repeat(data[at]), load_lanes(weights, indices[at] * LANES), a)
        at += 1
    j, end = 0, dense.shape[1]
    while j + 4 <= end:
        place = (first_dense + j) * LANES
        a = multiply_add(repeat(dense[i, j]), load_lanes(weights, place), a)
        b = multiply_add(repeat(dense[i, j + 1]), load_lanes(weights, place + LANES), b)
        c = multiply_add(repeat(dense[i, j + 2]), load_lanes(weights, place + 2 * LANES), c)
        d = multiply_add(repeat(dense[i, j + 3]), load_lanes(weights, place + 3 * LANES), d)
        j += 4
    while j < end:
        a = multiply_add(repeat(dense[i, j]), load_lanes(weights, (first_dense + j) * LANES), a)
        j += 1
    store_lanes(scores, 0, multiply_add(one, multiply_add(one, a, b), multiply_add(one, c, d)))


@kernel
def separate(indptr, indices, data, dense, squares, classes, costs, order, weights, duals, violations):
    """Run one training pass of up to eight one-against-rest SVMs; return the largest margin violation.

    Args:
        indptr, indices, data: sparse features in CSR, float32.
        dense: dense features, float32 (n, d).
        squares: squared length of each example's features, float32 (n,).
        classes: class of each example, int64 (n,): 0 to 7, or another number if it is none of the eight.
        costs: weight of each example's loss relative to half the sum of squared weights, float32 (n,).
        order: numbers of the examples to visit, in order, int64.
        weights: weights, float32 (sparse columns + d, 8); updated in place.
        duals: non-negative dual variables, float32 (n, at most 8); updated in place.
        violations: output largest margin violation of each example, float32 (n,).
    """
    scores, steps = np.empty(LANES, np.float32), np.zeros(LANES, np.float32)
    worst = np.float32(0.0)
    for i in order:
        score_eight(indptr, indices, data, dense, i, weights, scores)
        slack = np.float32(0.5) / costs[i]
        violations[i] = np.float32(0.0)
        moved = False
        for c in range(duals.shape[1]):
            sign = np.float32(1.0) if classes[i] == c else np.float32(-1.0)
            dual = duals[i, c]
            slope = sign * scores[c] - np.float32(1.0) + slack * dual
            if slope >= 0 and dual == 0:
                continue
            following = max(dual - slope / (squares[i] + slack), np.float32(0.0))
            violations[i] = max(violations[i], abs(slope))
            duals[i, c], steps[c] = following, sign * (following - dual)
            moved = True
        worst = max(worst, violations[i])
        if moved:
            add_change(indptr, indices, data, dense, i, steps, weights)
            steps[:] = 0.0
    return worst


@kernel
def add_duals(indptr, indices, data, dense, classes, duals, weights):
    """Add to the weights what the dual variables contribute, to start training from duals that are not 0.

    Args:
        indptr, indices, data, dense, classes, duals: as for `separate`.
        weights: float32 (sparse columns + d, 8), updated in place.
    """
    steps = np.zeros(LANES, np.float32)
    for i in range(len(duals)):
        if duals[i].any():
            for c in range(duals.shape[1]):
                steps[c] = duals[i, c] if classes[i] == c else -duals[i, c]
            add_change(indptr, indices, data, dense, i, steps, weights)
