"""Hidden Markov models of sequences of symbols, learned by the method of moments or by EM."""

from spectralnlp.estimators.hmm.em import HMMEM
from spectralnlp.estimators.hmm.estimator import HMM, SequenceEstimator
from spectralnlp.inference.chains.predictor import SequencePredictor

__all__ = ["HMM", "HMMEM", "SequenceEstimator", "SequencePredictor"]
