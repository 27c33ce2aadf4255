"""Commands ``sketch``, ``leverage`` and ``classify``; each parses its options and calls one function."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
