"""Look up words: in the lexicon of a grammar, or their vectors, from a vocabulary or from spelling."""

# The public modules; the others are private.
__all__ = ["lookup"]
