"""Estimators: examples in, parameters out. Each module reads from top to bottom like its paper."""

# The public modules; the others are private.
__all__ = ["eigenwords", "hmm", "lpcfg", "pcfg", "rhmm", "tagger", "topics"]
