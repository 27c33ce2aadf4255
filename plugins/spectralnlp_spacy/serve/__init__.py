"""The page of ``spectralnlp serve``: the pipeline behind it, what it says of a text, the server, the page."""
