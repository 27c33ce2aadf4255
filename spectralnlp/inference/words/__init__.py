"""Vectors of words, from a vocabulary or from spelling, and lookups of words in a lexicon."""

# The public modules; the others are private.
__all__ = ["lookup"]
