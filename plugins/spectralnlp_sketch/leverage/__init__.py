"""Leverage scores: exact, sketched, and in two passes over a stream."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
