"""Command line: each command parses its options and calls the Python API."""

# Nothing here is public: import public names from `spectralnlp_trees`.
__all__: list[str] = []
