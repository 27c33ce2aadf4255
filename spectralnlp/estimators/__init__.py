"""Estimators: examples in, parameters out. Each module reads from top to bottom like its paper."""
