"""Weights without their zeros: of features of spans, and of features of words."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.inference.trees.rescoring.rescorer import KnownFeatures
from spectralnlp.inference.trees.rescoring.rescorer import number_known as part
from spectralnlp.inference.trees.rescoring.templates import N_BUCKETS
from spectralnlp.jit import kernel
from spectralnlp.parameters import SpanScorer
from spectralnlp.parameters.taggers import FeatureRows


class Features(NamedTuple):
    buckets: np.ndarray
    n_features: np.ndarray


@kernel
def number_known(known, n_options, work):
    """The kernel's part as a kernel."""
    part(known, n_options, work)


def test_a_feature_has_the_weight_of_its_bucket() -> None:
    rng = np.random.default_rng(0)
    features = np.unique(np.append(rng.integers(0, N_BUCKETS, 5000), [0, 63, 64, N_BUCKETS - 1])).astype(
        np.int32
    )
    weights = rng.normal(size=len(features)).astype(np.float32)
    scorer = SpanScorer(
        tags=(),
        phrases=(),
        templates=(),
        features=features,
        weights=weights,
        number_weights=np.zeros(10),
        head_score=np.zeros((0, 0), np.float32),
        head_is_last=np.zeros((0, 0), np.uint8),
    )
    table = np.zeros(N_BUCKETS, np.float32)
    table[features] = weights
    buckets = np.concatenate([features, rng.integers(0, N_BUCKETS, 3000)]).astype(np.int32)
    buckets = np.stack([buckets, buckets[::-1]])
    work = Features(buckets.copy(), np.array([buckets.shape[1], 100]))
    known = KnownFeatures.of(scorer)
    number_known(known, 2, work)
    np.testing.assert_array_equal(known.weights[work.buckets[0]], table[buckets[0]])
    np.testing.assert_array_equal(known.weights[work.buckets[1, :100]], table[buckets[1, :100]])
    np.testing.assert_array_equal(work.buckets[1, 100:], buckets[1, 100:])


def test_rows_without_zeros_are_those_of_the_matrix() -> None:
    rng = np.random.default_rng(1)
    matrix = np.where(rng.random((50, 7)) < 0.3, rng.normal(size=(50, 7)), 0.0).astype(np.float32)
    rows = FeatureRows.of(matrix)
    again = np.zeros_like(matrix)
    for row, (first, last) in enumerate(zip(rows.first[:-1], rows.first[1:], strict=True)):
        again[row, rows.tags[first:last]] = rows.weights[first:last]
    np.testing.assert_array_equal(again, matrix)
    fewer, kept = rows.without(0.8)
    expected = np.where(np.abs(matrix) >= 0.8, matrix, 0.0)
    np.testing.assert_array_equal(kept, expected.any(axis=1))
    for found, wanted in zip(fewer, FeatureRows.of(expected[kept]), strict=True):
        np.testing.assert_array_equal(found, wanted)
