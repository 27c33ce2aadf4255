"""Inference with trained models, on arrays: parsing, tagging, sequence prediction, word lookup and topics.

Numba kernels are serial, cached and release the GIL.
"""

# The public modules; the others are private.
__all__ = ["chains", "sentences", "topics", "trees", "words"]
