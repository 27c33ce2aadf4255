"""Reader for OntoNotes in the columns of CoNLL-2012 (``.gold_conll``, ``.auto_conll``): a word a line.

    #begin document (bc/a); part 000
    bc/a   0   0   Gulls   NNS   (TOP(S(NP*)   -   -   -   Ann#1   *   -
    bc/a   0   1     fly   VBP        (VP*)))  -   -   -   Ann#1   *   -

    #end document

Source: S. Pradhan et al. (2012), CoNLL-2012 shared task, https://conll.cemantix.org/2012/data.html.

Brackets are in the sixth column, where ``*`` stands for the tag and the word, the fifth and the fourth.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spectralnlp.trees.readers.reader import TreeReader
from spectralnlp.trees.tree import writable

_WORD, _TAG, _BRACKETS, _WIDTH = 3, 4, 5, 12


def _brackets_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield the brackets of each line; other lines with words are yielded as they are, and are errors."""
    for line in lines:
        fields = line.split()
        if not fields or line.startswith("#"):
            yield ""
        elif len(fields) < _WIDTH or fields[_BRACKETS].count("*") != 1:
            yield line
        else:
            leaf = f"({writable(fields[_TAG])} {writable(fields[_WORD])} )"
            yield fields[_BRACKETS].replace("*", leaf)


def _looks_like_ontonotes(head: str) -> bool:
    # Nothing is tried twice (++), or the time would grow with the square of the length of a line.
    begin, word = r"(?:\s*+#begin document\b[^\n]*+)?+", r"[ \t]++\S++"
    row = rf"{begin}\s*+\S++[ \t]++\d++[ \t]++0{word}{word}[ \t]++\([^\s*]*+\*"
    return re.match(row, head) is not None


ONTONOTES = TreeReader("utf-8", _looks_like_ontonotes, select=_brackets_of)
