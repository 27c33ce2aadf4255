"""Detect out-of-scope texts (texts that belong to no label) by low confidence and unfamiliar n-grams.

Training needs no out-of-scope texts. Some labels are left out instead, and their texts serve as examples of
texts out of scope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Le
from numpy.typing import NDArray

from spectralnlp_sketch.hashing.ngrams import Ngrams
from spectralnlp_sketch.intent.head import Examples, Weights

Array32 = NDArray[np.float32]
# Maximum number of texts used, both learned from and held out.
MAX_TEXTS = 6000
# With fewer labels nothing is learned, since leaving one out would change the task.
MIN_LABELS = 5
# Every fourth label is left out, and every third text is held out.
EVERY_LABEL, EVERY_TEXT = 4, 3
# Confidences are kept this far from 0 and 1, since they have single precision.
NEAREST = 1e-5
# Weight of the familiar share of n-grams relative to the log-odds of the confidence. Chosen on CLINC150's
# ``oos_train``: texts of left-out labels share words with other labels, so they would give a smaller weight.
FAMILIARITY = 16.0
STEEPEST = 3.0
# Maximum magnitude of a weight, so that exponentials stay finite.
MOST = 50.0


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Out-of-scope detector, a logistic function of a text's confidence and its familiarity.

    Confidence is the probability of the likeliest label; familiarity says how many of the text's n-grams
    occur in labelled texts.

    Attributes:
        bias: bias of the logistic function.
        confidence: weight of the log-odds of the confidence, usually negative.
        familiarity: weight of the mean familiarity of the text's n-grams, usually negative.
        threshold: probability above which a text is out of scope.
    """

    bias: Annotated[float, Ge(-MOST), Le(MOST)] = 0.0
    confidence: Annotated[float, Ge(-MOST), Le(MOST)] = -1.0
    familiarity: Annotated[float, Ge(-MOST), Le(MOST)] = 0.0
    threshold: Annotated[float, Ge(0), Le(1)] = 1.0

    def doubt(self, confidence: NDArray[np.floating], familiar: NDArray[np.floating]) -> Array32:
        """Return a score of each text, from 0 to 1, high if it seems to be out of scope; float32 (n,).

        Args:
            confidence: probability of the likeliest label (n,).
            familiar: familiarity of texts, from `familiar_share` (n,).
        """
        score = self.bias + self.confidence * _log_odds(confidence) + self.familiarity * familiar
        return np.asarray(1.0 / (1.0 + np.exp(-score)), np.float32)


def familiarity_of(rows: sp.csr_array) -> Array32:
    """Return the familiarity of each n-gram, n/(n + 1) if it is in n labelled texts; float32 (n_ngrams,).

    Args:
        rows: n-gram rows of the labelled texts, CSR (n_texts, n_ngrams).
    """
    counts = np.bincount(rows.indices, minlength=rows.shape[1])
    return (counts / (counts + 1.0)).astype(np.float32)


def familiar_share(rows: sp.csr_array, idf: Array32, familiarity: Array32) -> NDArray[np.float64]:
    """Return the familiarity of each text: the idf-weighted mean over its n-grams; float64 (n_texts,).

    Args:
        rows: n-gram rows of texts (n_texts, n_ngrams), of which only the nonzero pattern is used.
        idf: inverse document frequencies, float32 (n_ngrams,); 0 for n-grams to ignore.
        familiarity: result of `familiarity_of` for labelled texts, float32 (n_ngrams,).
    """
    present = sp.csr_array(
        (idf[rows.indices].astype(np.float64), rows.indices, rows.indptr), shape=rows.shape
    )
    total = np.asarray(present.sum(axis=1)).ravel()
    return np.asarray(present @ familiarity.astype(np.float64)) / np.maximum(total, 1e-9)


def learn_scope(
    examples: Examples,
    n_labelled: int,
    ngrams: Ngrams,
    fit: Callable[[Examples, NDArray[np.int64]], Weights],
    *,
    sharpness: float,
    refused: float,
    random_state: int,
) -> Scope:
    """Learn an out-of-scope detector, which separates texts of left-out labels from texts of other labels.

    A classifier is trained without some of the labels, and classifies held-out texts of all labels. From its
    confidence and the familiarity of the texts, the detector learns which texts have a left-out label.

    Args:
        examples: training examples, the labelled texts first.
        n_labelled: number of labelled texts.
        ngrams: vocabulary of the sparse features; pairs of words do not count as familiar.
        fit: function of training examples and of the numbers of their labels, int64, which returns the
            weights of a classifier of these labels.
        sharpness: factor of scores before the softmax.
        refused: share of held-out in-scope texts that the detector may refuse; it sets the threshold.
        random_state: seed of the choice of labels and texts.
    """
    labels = examples.targets[:n_labelled].argmax(axis=1)
    rng = np.random.default_rng(random_state)
    some = rng.permutation(len(labels))[:MAX_TEXTS]
    n_labels = examples.targets.shape[1]
    left_out = rng.permutation(n_labels) % EVERY_LABEL == 0
    if n_labels < MIN_LABELS:
        left_out[:] = False
    held_out = np.arange(len(some)) % EVERY_TEXT == 0
    train = some[~held_out & ~left_out[labels[some]]]
    test = some[held_out]
    inside = np.isin(labels[test], labels[train])
    if not inside.any() or len(set(labels[train].tolist())) < 2:
        return Scope()
    rows = examples.features.sparse
    kept = examples.rows(train)
    classes = np.unique(labels[train])
    weights = fit(kept._replace(targets=np.ascontiguousarray(kept.targets[:, classes])), classes)
    scores = weights.scores(examples.features.rows(test)).astype(np.float64) * sharpness
    scores -= scores.max(axis=1, keepdims=True)
    confidence = 1.0 / np.exp(scores).sum(axis=1)
    idf = ngrams.idf.copy()
    idf[ngrams.n_single :] = 0.0
    familiar = familiar_share(rows[test], idf, familiarity_of(rows[train]))
    scope = Scope() if inside.all() else _learned(confidence, familiar, inside)
    threshold = float(np.quantile(scope.doubt(confidence, familiar)[inside], 1.0 - refused))
    return Scope(
        bias=scope.bias, confidence=scope.confidence, familiarity=scope.familiarity, threshold=threshold
    )


def _learned(
    confidence: NDArray[np.float64], familiar: NDArray[np.float64], inside: NDArray[np.bool_]
) -> Scope:
    from sklearn.linear_model import LogisticRegression

    known = _log_odds(confidence) + FAMILIARITY * familiar
    model = LogisticRegression(class_weight="balanced").fit(known[:, None], ~inside)
    slope = max(min(float(model.coef_[0, 0]), 0.0), -STEEPEST)
    bias = max(min(float(model.intercept_[0]), MOST), -MOST)
    return Scope(bias=bias, confidence=slope, familiarity=FAMILIARITY * slope)


def _log_odds(confidence: NDArray[np.floating]) -> NDArray[np.float64]:
    p = np.minimum(np.maximum(confidence.astype(np.float64), NEAREST), 1.0 - NEAREST)
    return np.asarray(np.log(p / (1.0 - p)))
