"""Refinement hidden Markov models for tagging (Stratos, Rush, Cohen and Collins 2013)."""

from spectralnlp.estimators.rhmm.estimator import RefinementHMM

__all__ = ["RefinementHMM"]
