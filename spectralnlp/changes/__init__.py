"""Incremental updates and unlearning: documents added to a trained model or taken out, models merged.

An estimator says what can be done (``unlearning``): from integer counts, everything, exactly; from a log of
integers, everything, by running its later passes again; from sketches that only grow, all but forgetting.
`adapt` makes one model of a general one and of trees of another domain
(:mod:`~spectralnlp.changes.adaptation`). The moments lie beside the model
(:mod:`~spectralnlp.changes.kept`), with a ledger of what it was made of
(:mod:`~spectralnlp.changes.ledger`); the verbs are in :mod:`~spectralnlp.changes.verbs`.
"""

from spectralnlp.changes.adaptation import (
    Adapter,
    adapt,
    adapt_alone,
    estimator_of,
    observed,
    usual_weight,
)
from spectralnlp.changes.kept import KeptMoments
from spectralnlp.changes.verbs import Change, forget, merge, train, update

__all__ = [
    "Adapter",
    "Change",
    "KeptMoments",
    "adapt",
    "adapt_alone",
    "estimator_of",
    "forget",
    "merge",
    "observed",
    "train",
    "update",
    "usual_weight",
]
