"""Tree-structured multi-stage PCA (TMPCA), which reduces a sequence of word vectors to one vector."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
