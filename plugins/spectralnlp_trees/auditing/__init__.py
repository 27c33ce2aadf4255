"""Find likely annotation errors of a treebank, by jackknifed parses and by inconsistent annotation."""

# Nothing here is public: import public names from `spectralnlp_trees`.
__all__: list[str] = []
