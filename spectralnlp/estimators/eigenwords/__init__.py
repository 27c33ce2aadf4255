"""Eigenwords: word vectors from one decomposition of word × context counts."""

from spectralnlp.estimators.eigenwords.moments import HashedPairCounts, PairCounts
from spectralnlp.estimators.eigenwords.estimator import Eigenwords
from spectralnlp.text.ngrams import Ngrams

__all__ = ["Eigenwords", "HashedPairCounts", "Ngrams", "PairCounts"]
