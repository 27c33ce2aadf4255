"""Classifiers of texts that learn from few labels and much text without any."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
