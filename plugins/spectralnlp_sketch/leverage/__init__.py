"""Leverage scores of the rows of a matrix, exact or sketched, in two passes over a stream."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
