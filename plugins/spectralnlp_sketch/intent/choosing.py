"""How a head shall learn: weights of the parts, loss and regularisation, chosen on labelled texts held out.

Products of texts (Gram matrices) are computed once for each part of the features. Any weights of the parts
are then a sum of matrices, and a head learns from products alone, in a second or less.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.linalg import one_blas_thread
from spectralnlp_sketch.intent.product_kernels import ascend_products, separate_products

Array32 = NDArray[np.float32]
Loss = Literal["logistic", "hinge"]

# With fewer texts than so many times the perplexity of labels, labels have few texts.
FEW_TEXTS = 40
# Texts that are learned from and held out in choosing, at most; with more, it would take minutes.
MOST_TEXTS = 6000
# Up to so many texts each is held out once, in five folds; of more, a third is held out once.
FEW, N_FOLDS = 1500, 5
# Another setting is taken if it is right so many standard errors more often than the one at hand.
STANDARD_ERRORS = 1.0
PASSES = 20


@dataclass(frozen=True)
class HeadSettings:
    """Settings of a head.

    Attributes:
        loss: ``logistic`` or ``hinge``, of `fit_head` and `fit_svm`.
        C: weight of the loss, where the features of a text have a mean squared length of `SQUARE`.
        dense: weight of the squared lengths of projections, beside 1 for each kind of n-grams.
        pairs: weight of the squared length of pairs of words.
    """

    loss: Loss = "hinge"
    C: float = 1.0
    dense: float = 1.0
    pairs: float = 1.0


# Mean squared length of a text's features: of words and of characters each 1.
SQUARE = 2.0


class Parts(NamedTuple):
    """Products of texts, by the part of the features.

    Args:
        ngrams: float32 (n, n); of n-grams of words and of characters.
        pairs: float32 (n, n); of pairs of words.
        dense: float32 (n, n); of projections, of mean squared length 1 on each block.
    """

    ngrams: Array32
    pairs: Array32
    dense: Array32

    @classmethod
    def of(cls, rows: sp.csr_array, n_single: int, dense: Array32) -> Parts:
        """Multiply the texts of rows with each other.

        Args:
            rows: n-grams, and from column ``n_single`` on pairs.
            n_single: how many n-grams are no pairs.
            dense: float32 (n, d); projections.
        """
        with one_blas_thread():
            return cls(_products(rows[:, :n_single]), _products(rows[:, n_single:]), dense @ dense.T)

    def products(self, settings: HeadSettings) -> Array32:
        """Return products of weighted features of mean squared length `SQUARE`, float32 (n, n)."""
        found = self.ngrams.copy()
        for weight, part in ((settings.pairs, self.pairs), (settings.dense, self.dense)):
            if weight:
                found += np.float32(weight) * part
        found *= np.float32(self.scale(settings) ** 2)
        return found

    def scale(self, settings: HeadSettings) -> float:
        """Return the factor that gives weighted features the mean squared length `SQUARE`."""
        weights = (1.0, settings.pairs, settings.dense)
        square = sum(w * float(np.diagonal(part).mean()) for w, part in zip(weights, self, strict=True))
        return float((SQUARE / max(square, 1e-9)) ** 0.5)


def are_few(labels: NDArray[np.int64]) -> bool:
    """Whether labels have so few texts that their names and unlabelled texts help."""
    return len(labels) < FEW_TEXTS * perplexity_of(labels)


def perplexity_of(labels: NDArray[np.int64]) -> float:
    """The perplexity of labels: so many equally frequent ones would be as hard to guess."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def candidates(
    few: bool, n_texts: int, n_unlabelled: int, C: float | None
) -> tuple[HeadSettings, list[list[dict[str, Any]]]]:
    """Return where to begin, and groups of changes to try.

    Args:
        few: whether labels have few texts.
        n_texts: how many are labelled. Of many, less is tried: chance would take more than is gained.
        n_unlabelled: how many are not. Directions are worth what the text is that they are learned from.
        C: weight of the loss, if it is given.
    """
    if few:
        first = HeadSettings(loss="logistic", C=60.0, dense=1.0, pairs=0.3)
        groups: list[list[dict[str, Any]]] = []  # too few are held out to tell
    else:
        many = n_texts > FEW
        some = 0.3 if n_unlabelled > n_texts else 0.03
        first = HeadSettings(loss="hinge", C=2.0 if many else 1.0, dense=0.1 if many else some, pairs=1.0)
        groups = [
            [{"dense": weight} for weight in ((0.3, 1.0) if many else (1.0, 0.3, 0.1, 0.0))],
            [{"C": C} for C in ((0.5,) if many else (0.2, 5.0))],
            [{"loss": "logistic", "C": C} for C in (() if many else (10.0, 60.0))],
            [{"pairs": 0.0}],
        ]
    if C is None:
        return first, groups
    return replace(first, C=C), [[each for each in group if "C" not in each] for group in groups]


def choose_settings(
    parts: Parts,
    labels: NDArray[np.int64],
    candidates: Sequence[Sequence[dict[str, Any]]],
    first: HeadSettings,
) -> HeadSettings:
    """Choose settings by cross-validation, a group after the other.

    Args:
        parts: of the labelled texts, in a random order.
        labels: int64 (n,); their classes.
        candidates: groups of changes; the best of each is kept for the next.
        first: where to begin.
    """
    splits = list(_splits(labels)) if any(candidates) else []
    if not splits:
        return first
    best, right = first, _right(parts, labels, first, splits)
    for group in candidates:
        for changes in group:
            other = replace(best, **changes)
            if other == best:
                continue
            found = _right(parts, labels, other, splits)
            difference = found.astype(np.float64) - right
            error = difference.std() / np.sqrt(len(difference))
            if difference.mean() > STANDARD_ERRORS * error:
                best, right = other, found
    return best


def _products(rows: sp.csr_array) -> Array32:
    _, columns = np.unique(rows.indices, return_inverse=True)
    n = int(columns.max(initial=-1)) + 1
    few = sp.csr_array((rows.data, columns, rows.indptr), shape=(rows.shape[0], n))
    return np.asarray((few @ few.T).todense(), np.float32)


def _splits(labels: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Texts to learn from and texts held out whose label others have, too."""
    n = len(labels)
    order = np.argsort(labels, kind="stable")
    fold = np.empty(n, np.int64)
    fold[order] = np.arange(n) % (N_FOLDS if n <= FEW else 3)
    for held_out in range(N_FOLDS if n <= FEW else 1):
        train = np.flatnonzero(fold != held_out)
        test = np.flatnonzero((fold == held_out) & np.isin(labels, labels[train]))
        if len(test) and len(set(labels[train].tolist())) > 1:
            yield train, test


def _right(
    parts: Parts,
    labels: NDArray[np.int64],
    settings: HeadSettings,
    splits: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]],
) -> NDArray[np.bool_]:
    """Whether each text held out gets its label."""
    products = parts.products(settings) + np.float32(1.0)  # the bias
    found = [scores_of(products, labels, settings, *split).argmax(axis=0) for split in splits]
    return np.concatenate([each == labels[test] for each, (_, test) in zip(found, splits, strict=True)])


def scores_of(
    products: Array32,
    labels: NDArray[np.int64],
    settings: HeadSettings,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> Array32:
    """Scores of texts held out, float32 (n_classes, n_test), by a head that learns from products alone."""
    own = np.ascontiguousarray(products[np.ix_(train, train)])
    classes, n_classes = labels[train], int(labels.max()) + 1
    duals = np.zeros((n_classes, len(train)), np.float32)
    scores = np.zeros((n_classes, len(train)), np.float32)
    learn = separate_products if settings.loss == "hinge" else ascend_products
    rng = np.random.default_rng(0)
    for _ in range(PASSES):
        if learn(own, classes, np.float32(settings.C), rng.permutation(len(train)), duals, scores) < 0.05:
            break
    with one_blas_thread():
        return duals @ products[np.ix_(train, test)]
