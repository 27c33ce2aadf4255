"""The page of ``spectralnlp serve``: the pipeline behind it, what it says of a text, the server, the page."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
