"""Commands of this plugin; each imports what it needs when it runs."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
