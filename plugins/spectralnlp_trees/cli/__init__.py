"""Commands: options, and one call of the API each."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
