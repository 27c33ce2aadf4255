"""Sentence ends in raw text, as a model learned them from a treebank."""

# The public modules; the others are private.
__all__ = ["ends"]
