"""Comparison of trees: types of a parser's errors, and the difference of two trees."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
