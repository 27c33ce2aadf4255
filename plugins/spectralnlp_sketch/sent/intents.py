"""The first model of SENT+: a linear model that predicts the intents of queries from their n-gram counts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.svm import LinearSVC

Array32 = NDArray[np.float32]
Ints = NDArray[np.int64]
FOLDS = 5


class IntentModel(NamedTuple):
    """Linear model whose prediction for counts x is the intent with the largest score, Wᵀx + b.

    Args:
        columns: columns of x that have weights, int32 (n_used,), ascending.
        weights: W, float32 (n_used, n_intents).
        biases: b, float32 (n_intents,).
    """

    columns: NDArray[np.int32]
    weights: Array32
    biases: Array32

    @classmethod
    def learn(cls, counts: sp.csr_array, intents: Ints, n_intents: int, seed: int) -> IntentModel:
        """Train a Crammer–Singer SVM; an intent that no query has is never predicted.

        Args:
            counts: n-gram counts of queries (n, columns).
            intents: number of the intent of each query (n,).
            n_intents: number of intents.
            seed: seed of the optimisation.
        """
        known, columns = np.unique(intents), np.unique(counts.indices).astype(np.int32)
        weights = np.zeros((len(columns), n_intents), np.float32)
        biases = np.full(n_intents, -np.inf, np.float32)
        biases[known] = 0.0
        if len(known) > 1 and len(columns):
            svm = LinearSVC(multi_class="crammer_singer", random_state=seed)
            svm.fit(sp.csr_matrix(counts[:, columns]), intents)
            # Of two intents, scikit-learn scores the second alone.
            scored = known[-len(svm.coef_) :]
            weights[:, scored], biases[scored] = svm.coef_.T, svm.intercept_
        return cls(columns, weights, biases)

    def predict(self, counts: sp.csr_array) -> Ints:
        """Return the number of the predicted intent of each query, int64 (n,)."""
        scores: Any = counts[:, self.columns] @ self.weights
        return np.asarray(scores + self.biases).argmax(axis=1)


def predict_held_out(counts: sp.csr_array, intents: Ints, n_intents: int, seed: int) -> Ints:
    """Predict the intent of each labelled query by five-fold cross-validation, int64 (n,).

    Args:
        counts: as for `IntentModel.learn`.
        intents: as for `IntentModel.learn`; at least two different ones.
        n_intents: number of intents.
        seed: seed of the folds and of the optimisation.
    """
    predicted = np.empty(len(intents), np.int64)
    folds = np.random.default_rng(seed).permutation(len(intents)) % FOLDS
    for fold in np.unique(folds):
        held = folds == fold
        model = IntentModel.learn(counts[~held], intents[~held], n_intents, seed)
        predicted[held] = model.predict(counts[held])
    return predicted
