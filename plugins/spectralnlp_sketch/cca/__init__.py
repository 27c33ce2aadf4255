"""Canonical correlation analysis of two views of the same examples, over a stream."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
