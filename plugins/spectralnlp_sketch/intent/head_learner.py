"""Train the linear classifier (head) on texts: SVMs for many texts per label, logistic regression for few.

Loss and weights of features are those of one of two presets, which were chosen on training texts alone.
Choosing one of six presets for each corpus by its held-out texts raised accuracy by only 0.1 points (six
corpora of 1,000 texts), no more than chance. If labels have few texts, the names of labels, such as
``card_arrival``, also tell which labels are similar.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams, scale_kinds, smoothed_idf
from spectralnlp_sketch.intent.head import Examples, Learned, Weights, fit_head, fit_svm, signed
from spectralnlp_sketch.intent.pseudo_labels import Unlabelled

Array32 = NDArray[np.float32]
# Labels have few texts if there are fewer texts than this many times the perplexity of labels.
FEW_SHOT_TEXTS = 40
# Unlabelled texts are numbered from here, above all labelled texts.
_FIRST_UNLABELLED = 2**40
# A head is updated many times, and its labels must stay those of the optimum.
_FURTHER_TOLERANCE, _FURTHER_PASSES = 0.01, 600
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[\W_]+")


@dataclass(frozen=True)
class HeadSettings:
    """Loss and feature weights of the linear classifier (head).

    Attributes:
        loss: ``logistic`` for `fit_head`, or ``hinge`` for `fit_svm`.
        C: weight of the loss relative to the regulariser.
        dense: weight of a text's projection in inner products of features, relative to a weight of 1 for its
            n-grams of words and characters.
        pairs: weight of a text's pairs of words in inner products, likewise.
    """

    loss: Literal["logistic", "hinge"]
    C: float
    dense: float
    pairs: float


FEW_SHOT = HeadSettings("logistic", C=60.0, dense=1.0, pairs=0.3)
MANY_SHOT = HeadSettings("hinge", C=2.0, dense=0.1, pairs=1.0)


def settings_for(few_shot: bool, C: float | None) -> HeadSettings:
    """Return the preset for few or for many texts per label, with another ``C`` if it is not None."""
    preset = FEW_SHOT if few_shot else MANY_SHOT
    return preset if C is None else replace(preset, C=C)


def is_few_shot(labels: NDArray[np.int64]) -> bool:
    """Return whether texts per label are so few that the preset `FEW_SHOT` is used instead of `MANY_SHOT`.

    The classifier then also learns from pseudo-labelled texts and from the similarity of label names.

    Args:
        labels: number of each text's label, int64 (n_texts,).
    """
    return len(labels) < FEW_SHOT_TEXTS * perplexity_of(labels)


def perplexity_of(labels: NDArray[np.int64]) -> float:
    """Return the perplexity of labels, the exponential of their entropy."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(np.exp(-(shares * np.log(shares)).sum()))


def label_texts(labels: Sequence[Any]) -> list[str]:
    """Return the names of labels as texts: ``card_arrival`` and ``CardArrival`` become ``card arrival``."""
    return [" ".join(_BETWEEN_WORDS.sub(" ", str(label)).split()).lower() for label in labels]


def label_similarity_of(names: Sequence[str], form: NgramFormat) -> Array32:
    """Return the similarity of labels: the identity plus cosines of their names' tf-idf n-grams.

    Args:
        names: names of labels from `label_texts`; the idf is computed from them too.
        form: format of n-grams.

    Returns:
        Positive definite similarities, float32 (n_labels, n_labels); the diagonal is 2, or 1 for a name
        without n-grams.
    """
    counts = count_ngrams(names, replace(form, pairs=0))
    columns, places = np.unique(counts.indices, return_inverse=True)
    idf = smoothed_idf(len(names), np.bincount(places))
    data = (1.0 + np.log(counts.data)) * idf[places]
    rows = sp.csr_array((data, places, counts.indptr), shape=(len(names), len(columns)))
    scale_kinds(rows, int(np.searchsorted(columns, form.first_character_column)))
    products = np.asarray((rows @ rows.T).todense())
    lengths = np.sqrt(np.maximum(np.diagonal(products), 1e-9))
    cosines = products / lengths[:, None] / lengths
    return np.asarray(np.eye(len(names)) + cosines, np.float32)


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

    def learn(self, examples: Examples, unlabelled: Unlabelled | None) -> tuple[Learned, Array32]:
        """Train on all examples and, for the logistic loss, on pseudo-labelled texts as well.

        Args:
            examples: labelled training examples.
            unlabelled: candidates for pseudo-labels; None for none.

        Returns:
            The trained head with its examples, and coefficients A for which the head's weights are XᵀA,
            float32 (n, n_classes). The rows of X are the features of the training examples. Training example
            j, with features x_j, thus adds x_j·x times row j of A to the scores of a text with features x.
        """
        numbers = np.arange(len(examples.weights))
        if self.settings.loss == "hinge":
            weights = self.support_vectors(examples)
            shares = signed(weights.duals, examples.targets.argmax(axis=1))
            return Learned(weights, examples, numbers), shares
        learned = self._learn_few_shot(examples, numbers, unlabelled)
        shares = np.float32(self.settings.C) * learned.weights.duals
        if self.label_similarity is not None:
            shares = np.asarray(shares @ self.label_similarity, np.float32)
        return learned, shares

    def without(
        self, examples: Examples, unlabelled: Unlabelled | None, learned: Learned, gone: NDArray[np.int64]
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
        unlabelled: Unlabelled | None,
        learned: Learned | None = None,
    ) -> Learned:
        """Train by logistic regression; if there are unlabelled texts, pseudo-label some and train again.

        Args:
            examples: labelled examples to train on, all or a part of them.
            numbers: index of each of these examples among all labelled examples, int64 (n,).
            unlabelled: candidates for pseudo-labels; None for none.
            learned: head trained on all examples, from whose duals the second training starts; None to start
                from zeros.
        """
        weights = self._logistic(examples, self.label_similarity)
        if unlabelled is None:
            return Learned(weights, examples, numbers)
        joined, pseudo_labelled = unlabelled.pseudo_labelled(weights)
        examples = examples.with_more(pseudo_labelled)
        numbers = np.append(numbers, _FIRST_UNLABELLED + joined)
        start = None if learned is None else learned.duals_of(examples, numbers)
        return Learned(self._logistic(examples, self.label_similarity, start), examples, numbers)
