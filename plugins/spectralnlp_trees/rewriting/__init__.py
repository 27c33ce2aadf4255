"""Rewrite trees where a pattern matches, with the operations of Tsurgeon."""

# Nothing here is public: import public names from `spectralnlp_trees`.
__all__: list[str] = []
