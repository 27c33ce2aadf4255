"""Sentence splitting of raw text, by a model learned from a treebank."""

# The public modules; the others are private.
__all__ = ["ends"]
