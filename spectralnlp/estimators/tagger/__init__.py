"""A tagger of words in sentences: a conditional random field over word forms and word vectors."""

from spectralnlp.estimators.tagger.estimator import CRFTagger

__all__ = ["CRFTagger"]
