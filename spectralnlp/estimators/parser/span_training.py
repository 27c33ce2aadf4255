"""Train the weights of a span scorer, a softmax over the candidate labels ("options") of each span.

FTRL-proximal (McMahan et al. 2013, algorithm 1) is stochastic gradient descent with a separate learning rate
for each feature, and an L1 penalty that keeps most weights at zero. Weights are averaged over the last
epochs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.parser.span_kernels import (
    WEIGHT,
    OptionFeatures,
    count_features,
    describe,
    keep,
    learn_epoch,
)
from spectralnlp.inference.trees.rescoring.corpus import ExampleTable
from spectralnlp.inference.trees.rescoring.scores import N_NUMBERS
from spectralnlp.inference.trees.rescoring.templates import N_BUCKETS
from spectralnlp.inference.trees.rescoring.values import LabelValues
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import map_kernels, offsets_of, scratch_array, spilled, trim_memory

# Number of examples whose features a thread computes at a time, and number of examples that are trained on
# before memory pages are released.
_TOGETHER, _LEARNED = 256, 512

# Assumed sum of squared gradients of initial weights, which limits their learning rate.
_TRUST = 100.0


@dataclass(frozen=True)
class TrainingOptions:
    """Settings for training the weights of a span scorer by FTRL-proximal.

    Args:
        rate: learning rate α; β is 1.
        l1, l2: penalties λ₁ and λ₂.
        epochs: number of passes over the examples.
        averaged: number of last epochs whose weights are averaged.
        min_count: minimum number of candidate labels with a feature; rarer features are dropped.
        random_state: seed of the order of examples.
    """

    rate: float = 0.03
    l1: float = 1.5
    l2: float = 5.0
    epochs: int = 4
    averaged: int = 2
    min_count: int = 3
    random_state: int = 0


@dataclass(frozen=True)
class Weights:
    """Weights of hashed features and of real-valued features.

    Attributes:
        features: int32 (n_features,), ascending; hash buckets with weights; all others have weight 0.
        values: float32 (n_features,); weight of each bucket.
        numbers: float64 (N_NUMBERS,); weight of each real-valued feature.
    """

    features: Ints
    values: NDArray[np.float32]
    numbers: Floats

    def largest(self, most: int, least: float) -> Weights:
        """Return a copy with only those hashed features that have the largest absolute weights.

        Args:
            most: maximum number of features.
            least: minimum absolute weight.
        """
        size = np.abs(self.values)
        kept = np.sort(np.argsort(-size, kind="stable")[:most])
        kept = kept[size[kept] >= least]
        return Weights(self.features[kept], self.values[kept], self.numbers)


def learn_weights(
    examples: ExampleTable,
    labels: LabelValues,
    table: np.ndarray,
    options: TrainingOptions,
    start: Weights | None = None,
) -> Weights:
    """Train weights by minimising the cross-entropy of the gold labels of spans.

    Args:
        examples: training examples, with posteriors by grammars that were not trained on them.
        labels: hashes of the label names, and tables of the heads of phrases; used to compute features.
        table: table of feature templates.
        options: settings of the training.
        start: initial weights, or None to start from zeros.
    """
    n_examples = len(examples.spans) - 1
    option_features, buckets = describe_all(examples, labels, table, options.min_count)
    state, number_state = np.zeros((len(buckets), 3), np.float32), np.zeros((N_NUMBERS, 3))
    if start is not None:
        _, old, new = np.intersect1d(start.features, buckets, assume_unique=True, return_indices=True)
        state[new] = _state_of(start.values[old], options.rate, options.l1, options.l2)
        number_state[:] = _state_of(start.numbers, options.rate, 0.0, 0.0)
    mean, numbers = np.zeros(len(buckets), np.float32), np.zeros(N_NUMBERS)
    random = np.random.default_rng(options.random_state)
    rates = (options.rate, options.l1, options.l2)
    for epoch in range(options.epochs):
        order = random.permutation(n_examples)
        for first in range(0, n_examples, _LEARNED):
            some = order[first : first + _LEARNED]
            learn_epoch(
                option_features, examples.spans, examples.gold, some, len(table), state, number_state, rates
            )
            trim_memory()
        if epoch >= options.epochs - options.averaged:
            mean += state[:, WEIGHT] / np.float32(options.averaged)
            numbers += number_state[:, WEIGHT] / options.averaged
    return Weights(buckets.astype(np.int32), mean, numbers)


def describe_all(
    examples: ExampleTable, labels: LabelValues, table: np.ndarray, min_count: int = 1
) -> tuple[OptionFeatures, np.ndarray]:
    """Compute the features of all options (candidate labels of spans) of the training examples.

    Args:
        examples, labels, table: see `learn_weights`.
        min_count: minimum number of options with a feature.

    Returns:
        The features of all options; and int64 (n_features,), the hash bucket of each feature index.
    """
    n_examples, first = len(examples.spans) - 1, examples.options.first
    counts, number = np.zeros(N_BUCKETS, np.int32), np.full(N_BUCKETS, -1, np.int32)
    numbers = scratch_array((int(first[-1]), N_NUMBERS), np.float64)

    def describe_some(begin: int) -> tuple[Any, Any]:
        end = min(begin + _TOGETHER, n_examples)
        some, sizes, features = describe(examples, begin, end, labels, table)
        numbers[first[examples.spans[begin]] : first[examples.spans[end]]] = some
        return sizes, spilled(features)

    parts: list[Any] = list(map_kernels(describe_some, range(0, n_examples, _TOGETHER)))
    for _, features in parts:
        count_features(features, counts)
        trim_memory()
    buckets = np.flatnonzero(counts >= min_count)
    number[buckets] = np.arange(len(buckets))
    kept, n_kept = scratch_array((int(counts[buckets].sum()),), np.int32), 0
    for place in range(len(parts)):
        sizes, features = parts[place]
        n_kept += keep(features, sizes, number, kept[n_kept:])
        parts[place] = sizes  # free the features, which take most of the memory
        trim_memory()
    starts = offsets_of(np.concatenate(parts))
    return OptionFeatures(first, numbers, starts, kept), buckets


def _state_of(weights: np.ndarray, rate: float, l1: float, l2: float) -> np.ndarray:
    """Return FTRL-proximal states from which training continues at the given weights.

    Every weight gets the same sum of squared gradients, which determines its learning rate.

    Args:
        weights: (n_features,); present weights.
        rate, l1, l2: learning rate α and penalties λ₁ and λ₂.

    Returns:
        (n_features, 3); the columns are explained in ``span_kernels.py``.
    """
    gradients = -weights * ((1.0 + np.sqrt(_TRUST)) / rate + l2) - np.sign(weights) * l1
    return np.stack([weights, gradients, np.full(len(weights), np.sqrt(_TRUST))], axis=1)
