"""Commands for sketches, leverage scores and text classification; each calls one function of the API."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
