"""Benchmarks that produce the figures in README and docs; each is run as ``python -m benchmarks.NAME``."""
