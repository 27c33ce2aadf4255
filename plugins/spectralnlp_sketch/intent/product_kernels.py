"""Kernels of heads that learn from products of texts: passes over a Gram matrix."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import fast_kernel, kernel
from spectralnlp_sketch.intent.kernels import best_step, softmax


@fast_kernel
def add_products(scores, products, factor):
    """Add ``factor`` times a text's products with all texts to a class's scores."""
    for j in range(len(scores)):
        scores[j] += factor * products[j]


@kernel
def separate_products(products, classes, C, order, duals, scores):
    """One pass of one-against-rest support vector machines; returns the largest violation.

    Args:
        products: float32 (n, n).
        classes: int64 (n,); the class of each text.
        C: weight of the loss.
        order: int64; which texts, in which order.
        duals: float32 (n_classes, n); weights of texts in each class's scores; changed.
        scores: float32 (n_classes, n); of all texts; changed.
    """
    slack, worst = np.float32(0.5) / C, np.float32(0.0)
    for i in order:
        for c in range(len(duals)):
            sign = np.float32(1.0) if classes[i] == c else np.float32(-1.0)
            dual = sign * duals[c, i]
            slope = sign * scores[c, i] - np.float32(1.0) + slack * dual
            if slope >= 0 and dual == 0:
                continue
            following = max(dual - slope / (products[i, i] + slack), np.float32(0.0))
            worst = max(worst, abs(slope))
            duals[c, i] = sign * following
            add_products(scores[c], products[i], sign * (following - dual))
    return worst


@kernel
def ascend_products(products, classes, C, order, duals, scores):
    """One pass of multinomial logistic regression; returns how far duals were from what they should be.

    Args:
        products, classes, C, order, duals, scores: as in `separate_products`.
    """
    n_classes = len(duals)
    target, dual = np.zeros(n_classes, np.float32), np.empty(n_classes, np.float32)
    change, own = np.empty(n_classes, np.float32), np.empty(n_classes, np.float32)
    probabilities = np.empty(n_classes, np.float32)
    missing = 0.0
    for i in order:
        for c in range(n_classes):
            own[c], dual[c] = scores[c, i], duals[c, i] / C
        probabilities[:] = own
        softmax(probabilities)
        target[classes[i]] = 1.0
        size = np.float32(0.0)
        for c in range(n_classes):
            change[c] = target[c] - probabilities[c] - dual[c]
            size += change[c] * change[c]
            missing += abs(change[c])
        if size >= 1e-10:
            curvature = np.float64(C * products[i, i] * size)
            s = np.float32(best_step(target, dual, change, own, np.float32(1.0), curvature))
            for c in range(n_classes):
                step = s * change[c] * C
                duals[c, i] += step
                add_products(scores[c], products[i], step)
        target[classes[i]] = 0.0
    return missing / len(order)
