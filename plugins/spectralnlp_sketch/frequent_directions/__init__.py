"""Frequent directions (Liberty 2013): a small B with BᵀB close to XᵀX of a stream, deterministically."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
