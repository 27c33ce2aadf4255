"""Adaptation of parsers to a domain: with the general treebank at hand, or from the parser alone."""

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
