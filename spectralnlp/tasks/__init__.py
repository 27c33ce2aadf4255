"""Tasks (parsing, tagging, vectors, …): what ``train`` and ``evaluate`` do for each kind of model."""

# The public modules; the others are private.
__all__ = ["api", "lines", "parsing", "sequences", "tagging", "task", "token_boundaries", "topics", "vectors"]
