"""Decompositions: thin over numpy and scipy."""

from spectralnlp.linalg.svd import randomized_svd

__all__ = ["randomized_svd"]
