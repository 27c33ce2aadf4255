"""Command line of this plugin; each command imports what it needs when it runs."""

# Nothing here is public: import public names from `spectralnlp_spacy`.
__all__: list[str] = []
