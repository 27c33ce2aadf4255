"""Sentence representations from sketches of unlabelled queries (Kim, Stratos and Sarikaya 2015)."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
