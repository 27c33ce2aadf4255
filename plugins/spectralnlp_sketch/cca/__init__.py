"""Canonical correlation analysis (CCA) of two views of the same examples, computed over a stream of rows."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
