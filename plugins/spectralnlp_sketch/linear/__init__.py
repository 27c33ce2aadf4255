"""Random projections of the rows of a matrix: Gaussian, CountSketch, OSNAP, SRHT."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
