"""Command ``spectralnlp annotate``: correct trees in the browser while a parser learns from them.

A project is a folder with two files for each text: a journal of edits, and the accepted trees in brackets.
"""

__all__: list[str] = []  # the package only provides the command


def __dir__() -> list[str]:
    return __all__
