"""Learning of latent-variable PCFGs: spectral, by clusters, and by EM."""

from spectralnlp.estimators.lpcfg.em import LatentEM
from spectralnlp.estimators.lpcfg.estimator import LPCFG

__all__ = ["LPCFG", "LatentEM"]
