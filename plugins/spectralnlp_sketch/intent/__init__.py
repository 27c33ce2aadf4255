"""Text classifiers, for example of the intents of queries, which learn from unlabelled texts too."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
