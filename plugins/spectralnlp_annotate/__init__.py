"""``spectralnlp annotate``: a page where trees are corrected, and a parser that learns from them meanwhile.

A project is a folder with a document for each text: a journal of edits, and the accepted trees in brackets.
"""

__all__: list[str] = []  # a command; nothing to import


def __dir__() -> list[str]:
    return __all__
