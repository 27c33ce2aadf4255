"""Searching trees with the language of Tregex: patterns of labels and the relations between nodes.

`search` gives matches and `count` their number; a `TreeIndex` is made once for any number of searches. The
language is that of Tregex's manual, docs/how-to/search.md lists its relations.

>>> from spectralnlp.search import count
>>> from spectralnlp.trees import read_brackets
>>> trees = list(read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"]))
>>> count(trees, "S < (NP $+ VP)"), count(trees, "S << __")
(1, 8)
"""

from __future__ import annotations

from spectralnlp.search.index import TreeIndex
from spectralnlp.search.matches import Match, MatchedNode, count, search
from spectralnlp.search.pattern_error import PatternError

__all__ = ["Match", "MatchedNode", "PatternError", "TreeIndex", "count", "search"]
