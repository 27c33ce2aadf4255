"""Maximum-likelihood PCFGs, with parent and sibling annotation as observed states."""

from spectralnlp.estimators.pcfg.estimator import PCFG

__all__ = ["PCFG"]
