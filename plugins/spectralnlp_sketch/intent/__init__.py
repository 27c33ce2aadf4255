"""Text classifiers, such as for intents of queries, trained on few labelled and many unlabelled texts."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
