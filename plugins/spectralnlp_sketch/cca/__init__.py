"""Canonical correlation analysis of two views of the same examples, over a stream."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
