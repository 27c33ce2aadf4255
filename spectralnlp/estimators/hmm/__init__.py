"""Models of sequences of symbols: hidden Markov models by moments."""

from spectralnlp.estimators.hmm.estimator import HMM, SequenceEstimator
from spectralnlp.estimators.hmm.predictor import SequencePredictor

__all__ = ["HMM", "SequenceEstimator", "SequencePredictor"]
