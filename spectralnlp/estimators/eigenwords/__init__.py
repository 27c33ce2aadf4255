"""Eigenwords: word vectors from one decomposition of word × context counts."""

from spectralnlp.estimators.eigenwords.counts import HashedPairCounts, Ngrams, PairCounts
from spectralnlp.estimators.eigenwords.estimator import Eigenwords

__all__ = ["Eigenwords", "HashedPairCounts", "Ngrams", "PairCounts"]
