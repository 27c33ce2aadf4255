"""Estimators, which learn model parameters from examples, one package per method."""

# The public modules; the others are private.
__all__ = ["eigenwords", "hmm", "lpcfg", "pcfg", "rhmm", "tagger", "topics"]
