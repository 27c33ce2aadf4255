"""Measures of trees: syntactic complexity, depth, branching, lengths of constituents."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
