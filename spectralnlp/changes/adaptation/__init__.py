"""Adapt a trained parser to a new domain, given a few trees of that domain.

There are two ways: with the moments of the general treebank (`with_treebank`), or from the parser alone
(`alone`).
"""

from spectralnlp.changes.adaptation.adapter import Adapter
from spectralnlp.changes.adaptation.alone import adapt_alone
from spectralnlp.changes.adaptation.with_treebank import (
    adapt,
    estimator_of,
    observed,
    usual_weight,
)

__all__ = [
    "Adapter",
    "adapt",
    "adapt_alone",
    "estimator_of",
    "observed",
    "usual_weight",
]
