"""Chains: forward-backward, Viterbi, filtering, tagging."""

# The public modules; the others are private.
__all__ = ["filtering", "forward_backward", "predictor"]
