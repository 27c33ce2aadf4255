"""Train the linear classifier (head) on texts: SVMs for many texts per label, logistic regression for few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp_sketch.intent.head import Examples, Learned, Weights, fit_head, fit_svm, signed
from spectralnlp_sketch.intent.pseudo_labels import Unlabelled
from spectralnlp_sketch.intent.weights import HeadSettings

Array32 = NDArray[np.float32]
# Unlabelled texts are numbered from here, above all labelled texts.
_FIRST_UNLABELLED = 2**40
# A head is updated many times, and its labels must stay those of the optimum.
_FURTHER_TOLERANCE, _FURTHER_PASSES = 0.01, 600


@dataclass(frozen=True)
class HeadLearner:
    """Trainer of linear classifiers (heads), from all examples or from a part of them.

    Args:
        settings: loss function, and its weight relative to regularisation.
        label_similarity: similarity of classes, as for `fit_head`; None if it is not used.
        random_state: seed of the order of examples.
    """

    settings: HeadSettings
    label_similarity: Array32 | None
    random_state: int

    def learn(self, examples: Examples, unlabelled: Unlabelled) -> Learned:
        """Train on all examples and, for the logistic loss, on pseudo-labelled texts as well.

        Args:
            examples: labelled training examples.
            unlabelled: candidates for pseudo-labels.
        """
        numbers = np.arange(len(examples.weights))
        if self.settings.loss == "hinge":
            return Learned(self.support_vectors(examples), examples, numbers)
        return self._learn_few_shot(examples, numbers, unlabelled)

    def without(
        self, examples: Examples, unlabelled: Unlabelled, learned: Learned, gone: NDArray[np.int64]
    ) -> Weights:
        """Train without some examples, for cross-validation, starting from the solution for all examples.

        Args:
            examples: all labelled training examples.
            unlabelled: candidates for pseudo-labels, as for `learn`.
            learned: the head that was trained on all examples.
            gone: indices of the examples to leave out, int64.
        """
        numbers = np.delete(np.arange(len(examples.weights)), gone)
        kept = examples.rows(numbers)
        if self.settings.loss == "hinge":
            return self.support_vectors(kept, learned.weights.duals[numbers])
        return self._learn_few_shot(kept, numbers, unlabelled, learned).weights

    def resume(self, examples: Examples, start: Array32) -> Weights:
        """Train SVMs on all examples from given initial duals, to a higher precision than `learn`.

        Args:
            examples: all examples, old and new.
            start: initial duals, float32 (n, n_classes): those of an earlier solution for old examples, zeros
                for new ones.
        """
        return fit_svm(
            examples,
            C=self.settings.C,
            passes=_FURTHER_PASSES,
            tolerance=_FURTHER_TOLERANCE,
            random_state=self.random_state,
            start=start,
        )

    def shares(self, learned: Learned) -> Array32:
        """Return coefficients A for which the head's weights are XᵀA, float32 (n, n_classes).

        The rows of X are the features of the training examples. Training example j, with features x_j, thus
        adds x_j·x times row j of A to the scores of a text with features x.

        Args:
            learned: the trained head with its examples.
        """
        duals = learned.weights.duals
        if self.settings.loss == "hinge":
            return signed(duals, learned.examples.targets.argmax(axis=1))
        shares = np.float32(self.settings.C) * duals
        return (
            shares
            if self.label_similarity is None
            else np.asarray(shares @ self.label_similarity, np.float32)
        )

    def of_classes(self, examples: Examples, classes: NDArray[np.int64]) -> Weights:
        """Train a linear classifier of only some of the classes, as `learn_scope` requires.

        Args:
            examples: examples of these classes; targets have a column for each of them.
            classes: numbers of the classes among all classes.
        """
        if self.settings.loss == "hinge":
            return self.support_vectors(examples)
        label_similarity = (
            None if self.label_similarity is None else self.label_similarity[np.ix_(classes, classes)]
        )
        return self._logistic(examples, label_similarity)

    def support_vectors(self, examples: Examples, start: Array32 | None = None) -> Weights:
        """Train support vector machines by `fit_svm`, with this trainer's settings.

        Args:
            examples: training examples.
            start: initial duals, float32 (n, n_classes); None for zeros.
        """
        return fit_svm(examples, C=self.settings.C, random_state=self.random_state, start=start)

    def _logistic(
        self, examples: Examples, label_similarity: Array32 | None, start: Array32 | None = None
    ) -> Weights:
        C, seed = self.settings.C, self.random_state
        return fit_head(examples, C=C, label_similarity=label_similarity, random_state=seed, start=start)

    def _learn_few_shot(
        self,
        examples: Examples,
        numbers: NDArray[np.int64],
        unlabelled: Unlabelled,
        learned: Learned | None = None,
    ) -> Learned:
        """Train by logistic regression; if there are unlabelled texts, pseudo-label some and train again.

        Args:
            examples: labelled examples to train on, all or a part of them.
            numbers: index of each of these examples among all labelled examples, int64 (n,).
            unlabelled: candidates for pseudo-labels.
            learned: head trained on all examples, from whose duals the second training starts; None to start
                from zeros.
        """
        weights = self._logistic(examples, self.label_similarity)
        if not len(unlabelled.features):
            return Learned(weights, examples, numbers)
        joined, pseudo_labelled = unlabelled.pseudo_labelled(weights)
        examples = examples.with_more(pseudo_labelled)
        numbers = np.append(numbers, _FIRST_UNLABELLED + joined)
        start = None if learned is None else learned.duals_of(examples, numbers)
        return Learned(self._logistic(examples, self.label_similarity, start), examples, numbers)
