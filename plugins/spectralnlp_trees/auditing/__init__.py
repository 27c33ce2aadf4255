"""Likely errors of a treebank's annotation, found by jackknifed parses and by variation of the same words."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
