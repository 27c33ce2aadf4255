"""Decompositions: thin over numpy and scipy."""

from spectralnlp.linalg.svd import randomized_svd
from spectralnlp.linalg.tucker import tucker

__all__ = ["randomized_svd", "tucker"]
