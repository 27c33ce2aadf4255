"""Matrix and tensor decompositions, built on numpy and scipy."""

from spectralnlp.linalg.blas import map_in_threads, one_blas_thread
from spectralnlp.linalg.svd import randomized_svd
from spectralnlp.linalg.tucker import tucker

__all__ = ["map_in_threads", "one_blas_thread", "randomized_svd", "tucker"]
