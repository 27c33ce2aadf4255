"""Spectral learning of latent-variable PCFGs."""

from spectralnlp.estimators.lpcfg.estimator import LPCFG

__all__ = ["LPCFG"]
