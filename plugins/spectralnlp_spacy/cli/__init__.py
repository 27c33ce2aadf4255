"""Commands of this plugin: ``convert``, ``export spacy`` and ``serve``; imports wait until a command runs."""

# Nothing here is public: import public names from `spectralnlp_spacy`.
__all__: list[str] = []
