"""Commands of the spaCy plugin: ``convert``, ``export spacy`` and ``serve``."""

# Nothing here is public: import public names from `spectralnlp_spacy`.
__all__: list[str] = []
