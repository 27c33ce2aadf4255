"""Commands for trees: ``search``, ``rewrite``, ``measure``, ``compare``, ``diff`` and ``audit``."""

# Nothing here is public: import public names from `spectralnlp_trees`.
__all__: list[str] = []
