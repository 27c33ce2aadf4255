"""Models of sequences of symbols: hidden Markov models by moments and by EM."""

from spectralnlp.estimators.hmm.em import HMMEM
from spectralnlp.estimators.hmm.estimator import HMM, SequenceEstimator
from spectralnlp.inference.chains.predictor import SequencePredictor

__all__ = ["HMM", "HMMEM", "SequenceEstimator", "SequencePredictor"]
