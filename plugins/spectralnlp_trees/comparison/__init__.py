"""Compare trees: types of a parser's errors, and differences between two trees."""

# Nothing here is public: import public names from `spectralnlp_trees`.
__all__: list[str] = []
