"""Searching trees with the language of Tregex: patterns of labels and the relations between nodes.

`search` gives matches and `count` their number; a `TreeIndex` is made once for any number of searches. The
language is that of Tregex's manual, docs/how-to/search.md lists its relations. The package is
registered as the tree tool ``search``: its names are for those who ask there.
"""

from __future__ import annotations

from spectralnlp_trees.tregex.matches import TreeIndex
from spectralnlp_trees.tregex.pattern import read_pattern

__all__ = ["TreeIndex", "read_pattern"]
