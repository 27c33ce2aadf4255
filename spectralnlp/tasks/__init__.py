"""Tasks (parsing, tagging, word vectors, …): how models of each kind are trained, loaded and evaluated."""

# The public modules; the others are private.
__all__ = ["lines", "parsing", "sequences", "tagging", "task", "token_boundaries", "topics", "vectors"]
