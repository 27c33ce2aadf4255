"""Commands of the spaCy plugin: ``convert``, ``export spacy`` and ``serve``; each imports its modules when run."""

# Nothing here is public: import public names from `spectralnlp_spacy`.
__all__: list[str] = []
