"""Sentence representations by sketching of unlabelled queries (Kim, Stratos and Sarikaya 2015)."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
