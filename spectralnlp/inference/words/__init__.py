"""Vectors of words, known or spelled."""

# The public modules; the others are private.
__all__ = ["lookup"]
