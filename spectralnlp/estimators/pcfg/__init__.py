"""Maximum-likelihood PCFGs, with parent and sibling annotation."""

from spectralnlp.estimators.pcfg.estimator import PCFG
from spectralnlp.estimators.pcfg.moments import RuleCounts

__all__ = ["PCFG", "RuleCounts"]
