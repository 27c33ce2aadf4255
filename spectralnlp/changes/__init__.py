"""Incremental updates and unlearning: add documents to a trained model, remove documents, merge models.

Which operations a model supports depends on the attribute ``unlearning`` of its estimator. If the estimator
keeps integer counts, documents can be added and removed, and models merged, exactly. If it keeps its training
examples, the same operations are possible, but training is repeated on the changed examples. If it keeps
sketches, documents can be added and models merged, but nothing can be removed.

Moments (training statistics) are stored beside the model (:mod:`~spectralnlp.changes.kept_moments`), with a
ledger of its documents (:mod:`~spectralnlp.changes.ledger`). The operations are defined in
:mod:`~spectralnlp.changes.operations`. In addition, `adapt` combines a general model with trees of another
domain (:mod:`~spectralnlp.changes.adaptation`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spectralnlp.changes.kept_moments import KeptMoments, estimator_of, moments_of
from spectralnlp.changes.operations import Change, forget, merge, train, update

if TYPE_CHECKING:
    from spectralnlp.changes.adaptation import (
        Adapter,
        adapt,
        adapt_without_treebank,
        default_weight,
    )

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


if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        # Adaptation imports all that trains parsers; a model that is only loaded must not wait for it.
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("spectralnlp.changes.adaptation"), name)
