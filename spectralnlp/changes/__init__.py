"""Incremental updates and unlearning: adding documents to a trained model, removing them, and merging models.

What is possible depends on the estimator's ``unlearning``. With integer counts, everything is possible and
exact; with stored training examples, everything is possible by repeating the later passes of training; with
sketches, to which data can only be added, everything but forgetting is possible. `adapt` combines a general
model with trees of another domain (:mod:`~spectralnlp.changes.adaptation`). Moments (training statistics) are
stored beside the model (:mod:`~spectralnlp.changes.kept_moments`), with a ledger of its documents
(:mod:`~spectralnlp.changes.ledger`); the operations are in :mod:`~spectralnlp.changes.operations`.
"""

from spectralnlp.changes.adaptation import (
    Adapter,
    adapt,
    adapt_without_treebank,
    default_weight,
    estimator_of,
    moments_of,
)
from spectralnlp.changes.kept_moments import KeptMoments
from spectralnlp.changes.operations import Change, forget, merge, train, update

__all__ = [
    "Adapter",
    "Change",
    "KeptMoments",
    "adapt",
    "adapt_without_treebank",
    "default_weight",
    "estimator_of",
    "forget",
    "merge",
    "moments_of",
    "train",
    "update",
]
