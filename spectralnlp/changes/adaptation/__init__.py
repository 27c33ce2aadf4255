"""Adapt a trained parser to a new domain, given a few trees of that domain.

There are two ways: with the moments (training statistics) of the general treebank (`with_treebank`), or from
the parser alone (`without_treebank`).
"""

from spectralnlp.changes.adaptation.adapter import Adapter
from spectralnlp.changes.adaptation.with_treebank import (
    adapt,
    default_weight,
    estimator_of,
    moments_of,
)
from spectralnlp.changes.adaptation.without_treebank import adapt_without_treebank

__all__ = [
    "Adapter",
    "adapt",
    "adapt_without_treebank",
    "default_weight",
    "estimator_of",
    "moments_of",
]
