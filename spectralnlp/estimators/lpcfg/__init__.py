"""Latent-variable PCFGs, learned by spectral methods, by clustering, or by EM."""

from spectralnlp.estimators.lpcfg.em import LatentEM
from spectralnlp.estimators.lpcfg.estimator import LPCFG

__all__ = ["LPCFG", "LatentEM"]
