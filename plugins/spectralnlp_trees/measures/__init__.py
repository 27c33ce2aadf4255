"""Measure trees: syntactic complexity, depth, branching, lengths of constituents."""

# Nothing here is public: import public names from `spectralnlp_trees`.
__all__: list[str] = []
