"""Benchmarks that produce each figure of the README and of docs/: ``python -m benchmarks.NAME --help``."""
