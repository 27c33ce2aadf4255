"""Leverage scores: exact, sketched, and in two passes over a stream."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
