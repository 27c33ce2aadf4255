"""Comparison of trees: types of a parser's errors, and the difference of two trees.

`find_errors` takes one tree, `analyse` all trees of a parser; `diff` shows what differs between two trees.
`as_text` and `as_page` write tables and a page of HTML.

>>> from spectralnlp.comparison import analyse, as_page, as_text
>>> from spectralnlp.trees import read_brackets
>>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
>>> gold, tree = read_brackets(brackets)
>>> analysis = analyse([gold], [tree])
>>> as_text([analysis], ["mine"]).splitlines()[3].split()
['type', 'of', 'error', 'errors', 'brackets', 'share']
>>> as_page([analysis], ["mine"], title="Errors")[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

from spectralnlp.comparison.analysis import AnalysedSentence, Analysis, TypeCount, analyse
from spectralnlp.comparison.diff import DiffLine, TreeDiff, diff
from spectralnlp.comparison.errors import Repair, TreeError, TreeErrors, find_errors
from spectralnlp.comparison.kinds import ErrorType
from spectralnlp.comparison.page import as_page
from spectralnlp.comparison.text import as_text
from spectralnlp.comparison.workspace import Bracket

__all__ = [
    "AnalysedSentence",
    "Analysis",
    "Bracket",
    "DiffLine",
    "ErrorType",
    "Repair",
    "TreeDiff",
    "TreeError",
    "TreeErrors",
    "TypeCount",
    "analyse",
    "as_page",
    "as_text",
    "diff",
    "find_errors",
]
