"""Learn the head of a classifier: SVMs if labels have many texts, logistic regression if they have few."""

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
# Heads go on many times, and labels must be those of the optimum; `fit_svm` alone stops at more.
_FURTHER_TOLERANCE = 0.02


@dataclass(frozen=True)
class HeadLearner:
    """Learner of heads, from all examples or from a part of them.

    Args:
        settings: loss and weight.
        likeness: similarity of classes, as for `fit_head`; None if it is not used.
        random_state: seed of the order of examples.
    """

    settings: HeadSettings
    likeness: Array32 | None
    random_state: int

    def learn(self, examples: Examples, unlabelled: Unlabelled) -> Learned:
        """Learn from all examples and, for the logistic loss, from unlabelled texts as well."""
        numbers = np.arange(len(examples.weights))
        if self.settings.loss == "hinge":
            return Learned(self.support_vectors(examples), examples, numbers)
        return self._learn_few(examples, numbers, unlabelled)

    def without(
        self, examples: Examples, unlabelled: Unlabelled, learned: Learned, gone: NDArray[np.int64]
    ) -> Weights:
        """Learn without some of the examples, starting from the head of all examples.

        Args:
            examples: all examples.
            unlabelled: as for `learn`.
            learned: the head learned from all examples.
            gone: numbers of the examples to leave out, int64.
        """
        numbers = np.delete(np.arange(len(examples.weights)), gone)
        kept = examples.rows(numbers)
        if self.settings.loss == "hinge":
            return self.support_vectors(kept, learned.weights.duals[numbers])
        return self._learn_few(kept, numbers, unlabelled, learned).weights

    def resume(self, examples: Examples, start: Array32) -> Weights:
        """Go on to the optimum of all examples, from duals of those that are known."""
        C, seed = self.settings.C, self.random_state
        return fit_svm(examples, C=C, tolerance=_FURTHER_TOLERANCE, random_state=seed, start=start)

    def shares(self, learned: Learned) -> Array32:
        """Return A, float32 (n, n_classes), such that a head's weights are XᵀA for features X of examples."""
        duals = learned.weights.duals
        if self.settings.loss == "hinge":
            return signed(duals, learned.examples.targets.argmax(axis=1))
        shares = np.float32(self.settings.C) * duals
        return shares if self.likeness is None else np.asarray(shares @ self.likeness, np.float32)

    def of_classes(self, examples: Examples, classes: NDArray[np.int64]) -> Weights:
        """Learn a head for some classes, given by number; the examples' targets have these classes only."""
        if self.settings.loss == "hinge":
            return self.support_vectors(examples)
        likeness = None if self.likeness is None else self.likeness[np.ix_(classes, classes)]
        return self._logistic(examples, likeness)

    def support_vectors(self, examples: Examples, start: Array32 | None = None) -> Weights:
        """Learn support vector machines from examples, with initial duals ``start`` as for `fit_svm`."""
        return fit_svm(examples, C=self.settings.C, random_state=self.random_state, start=start)

    def _logistic(
        self, examples: Examples, likeness: Array32 | None, start: Array32 | None = None
    ) -> Weights:
        C, seed = self.settings.C, self.random_state
        return fit_head(examples, C=C, likeness=likeness, random_state=seed, start=start)

    def _learn_few(
        self,
        examples: Examples,
        numbers: NDArray[np.int64],
        unlabelled: Unlabelled,
        learned: Learned | None = None,
    ) -> Learned:
        """Learn by logistic regression, then again with the most certain unlabelled texts, if any."""
        weights = self._logistic(examples, self.likeness)
        if not len(unlabelled.features):
            return Learned(weights, examples, numbers)
        joined, pseudo_labelled = unlabelled.pseudo_labelled(weights)
        examples = examples.with_more(pseudo_labelled)
        numbers = np.append(numbers, _FIRST_UNLABELLED + joined)
        start = None if learned is None else learned.duals_of(examples, numbers)
        return Learned(self._logistic(examples, self.likeness, start), examples, numbers)
