"""Look up words in a grammar's lexicon; look up word vectors, or predict them from spelling."""

# The public modules; the others are private.
__all__ = ["lookup"]
