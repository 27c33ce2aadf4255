"""Dependencies from constituency trees: Universal and Stanford ones of English, heads in any language.

`to_dependencies` makes `Dependencies`, which write themselves as CoNLL-U. docs/how-to/dependencies.md has the
rules in short.

>>> from spectralnlp.dependencies import to_dependencies
>>> from spectralnlp.trees import read_brackets
>>> (tree,) = read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"])
>>> to_dependencies(tree).relations
('det', 'nsubj', 'root')
"""

from __future__ import annotations

from spectralnlp.dependencies.conversion import SCHEMES, foreign_tags, is_english, to_dependencies
from spectralnlp.dependencies.graph import Dependencies

__all__ = ["SCHEMES", "Dependencies", "foreign_tags", "is_english", "to_dependencies"]
