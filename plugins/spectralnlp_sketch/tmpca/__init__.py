"""Tree-structured multi-stage PCA: a sequence of vectors to one vector."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
