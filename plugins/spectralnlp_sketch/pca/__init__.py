"""Principal components of a stream of rows, dense or sparse."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
