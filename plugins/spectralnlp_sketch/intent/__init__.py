"""Text classifiers that learn from few labelled and many unlabelled texts."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
