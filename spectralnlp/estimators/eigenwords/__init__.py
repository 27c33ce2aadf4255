"""Eigenwords: word vectors from one decomposition of word × context counts."""

from spectralnlp.estimators.eigenwords.estimator import Eigenwords
from spectralnlp.estimators.eigenwords.moments import PairCounts
from spectralnlp.text.ngrams import Ngrams

__all__ = ["Eigenwords", "Ngrams", "PairCounts"]
