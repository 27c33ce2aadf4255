"""Web server of the command ``spectralnlp serve``, which shows the analysis of texts in the browser."""

# Nothing here is public: import public names from `spectralnlp_spacy`.
__all__: list[str] = []
