"""The refinement hidden Markov model (Stratos, Rush, Cohen and Collins 2013)."""

from spectralnlp.estimators.rhmm.estimator import RefinementHMM
from spectralnlp.estimators.rhmm.moments import TaggedSentence, TagLog

__all__ = ["RefinementHMM", "TagLog", "TaggedSentence"]
