"""Every figure of the README and of docs/ comes from one of these: ``python -m benchmarks.NAME --help``."""
