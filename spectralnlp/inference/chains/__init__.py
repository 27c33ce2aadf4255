"""Inference in linear chains: forward-backward, Viterbi, filtering and tagging."""

# The public modules; the others are private.
__all__ = ["filtering", "forward_backward", "predictor"]
