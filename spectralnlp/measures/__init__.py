"""Measures of trees: syntactic complexity, depth, branching, lengths of constituents.

`measure` takes trees or parses; what it gives adds up over texts.

>>> from spectralnlp.measures import measure
>>> from spectralnlp.trees import read_brackets
>>> text = measure(read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"]))
>>> text.ratios["MLS"], text.greatest_depth
(3.0, 2)

``STRUCTURES`` has the patterns of what is counted, ``RATIOS`` what is divided by what.

>>> from spectralnlp.measures import RATIOS, STRUCTURES
>>> STRUCTURES["CP"], RATIOS["CP/T"]
(('ADJP|ADVP|NP|VP < CC',), ('CP', 'T'))
"""

from __future__ import annotations

from spectralnlp.measures.measure import measure, measure_each
from spectralnlp.measures.structures import RATIOS, STRUCTURES
from spectralnlp.measures.values import LengthProfile, Measures

__all__ = ["RATIOS", "STRUCTURES", "LengthProfile", "Measures", "measure", "measure_each"]
