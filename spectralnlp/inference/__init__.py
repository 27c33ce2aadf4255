"""Inference: arrays in, arrays out. Numba kernels are serial, cached and release the GIL."""
