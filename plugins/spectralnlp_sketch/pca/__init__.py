"""Principal component analysis of a stream of rows, dense or sparse."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
