"""Frequent directions (Liberty 2013): a small matrix B such that BᵀB is close to XᵀX of a stream."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
