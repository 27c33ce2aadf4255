"""Search trees with patterns in Tregex's language, which describe labels and relations between nodes.

`search` yields matches and `count` returns their number; a `TreeIndex` is built once for any number of
searches. The language is that of Tregex's manual; docs/how-to/search.md lists its relations. The package is
registered as the tool ``search``, under which the package spectralnlp finds these functions.
"""

from __future__ import annotations

from spectralnlp_trees.tregex.matches import TreeIndex
from spectralnlp_trees.tregex.pattern import read_pattern

__all__ = ["TreeIndex", "read_pattern"]
