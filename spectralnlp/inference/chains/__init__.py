"""Chains: forward-backward, Viterbi, filtering, tagging."""
