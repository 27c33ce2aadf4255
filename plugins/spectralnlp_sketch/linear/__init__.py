"""Random projections of the rows of a matrix: Gaussian, CountSketch, OSNAP, SRHT."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
