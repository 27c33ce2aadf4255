"""Server of ``spectralnlp serve``: pipeline, analysis of texts, worker processes, HTTP interface, page."""

# Nothing here is public: import public names from `spectralnlp_spacy`.
__all__: list[str] = []
