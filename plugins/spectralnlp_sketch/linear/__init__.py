"""Random projections of the rows of a matrix: Gaussian, CountSketch, OSNAP, SRHT."""
