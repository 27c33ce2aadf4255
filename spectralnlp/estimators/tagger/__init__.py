"""Tagging words in sentences: a conditional random field over forms and vectors of words."""

from spectralnlp.estimators.tagger.estimator import CRFTagger

__all__ = ["CRFTagger"]
