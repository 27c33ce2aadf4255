"""Tagging words in sentences: an averaged structured perceptron over forms and vectors of words."""

from spectralnlp.estimators.tagger.estimator import PerceptronTagger

__all__ = ["PerceptronTagger"]
