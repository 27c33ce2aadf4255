"""Adapt a trained parser to a new domain, given a few trees of that domain; see `adapting`."""

from spectralnlp.changes.adaptation.adapter import Adapter
from spectralnlp.changes.adaptation.adapting import adapt, adapt_without_treebank
from spectralnlp.changes.adaptation.domain import default_weight

__all__ = ["Adapter", "adapt", "adapt_without_treebank", "default_weight"]
