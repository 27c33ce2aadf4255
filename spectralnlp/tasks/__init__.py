"""Tasks: parsing, tagging, vectors and others, as ``train`` and ``evaluate`` see them."""

# The public modules; the others are private.
__all__ = ["api", "lines", "parsing", "sequences", "tagging", "task", "token_boundaries", "topics", "vectors"]
