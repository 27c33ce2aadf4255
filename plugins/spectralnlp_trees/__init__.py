"""Tools for constituency trees: search, rewriting, dependencies, measures, comparison with gold trees, audit.

They accept trees or parses of any parser.

>>> from spectralnlp.trees import read_brackets
>>> from spectralnlp_trees import count, is_english, measure, to_dependencies
>>> (tree,) = read_brackets(["(S (NP (DT The) (NN keeper)) (VP (VBZ sleeps)))"])
>>> count([tree], "S < (NP $+ VP)"), count([tree], "S << __")
(1, 8)
>>> is_english(tree), to_dependencies(tree).relations
(True, ('det', 'nsubj', 'root'))
>>> text = measure([tree])
>>> text.ratios["MLS"], text.greatest_depth
(3.0, 2)

``STRUCTURES`` holds the patterns of the structures that are counted, ``RATIOS`` the numerator and denominator
of each measure, ``SCHEMES`` the names of the dependency schemes.

>>> from spectralnlp_trees import RATIOS, SCHEMES, STRUCTURES, foreign_tags
>>> STRUCTURES["CP"], RATIOS["CP/T"]
(('ADJP|ADVP|NP|VP < CC',), ('CP', 'T'))
>>> SCHEMES, foreign_tags(*read_brackets(["(S (NOUN a) (VBZ b))"]))
(('ud', 'stanford', 'heads'), ['NOUN'])

``analyse`` counts the errors of a parser by type; ``as_text`` and ``as_page`` format the counts as plain text
and as an HTML page.

>>> from spectralnlp_trees import analyse, as_page, as_text
>>> gold, tree = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"])
>>> analysis = analyse([gold], [tree])
>>> as_text([analysis], ["mine"]).splitlines()[3].split()
['type', 'of', 'error', 'errors', 'brackets', 'share']
>>> as_page([analysis], ["mine"], title="Errors")[:15]
'<!DOCTYPE html>'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp_trees.auditing.audit import audit
    from spectralnlp_trees.auditing.doubts import Doubt
    from spectralnlp_trees.comparison.analysis import AnalysedSentence, Analysis, TypeCount, analyse
    from spectralnlp_trees.comparison.diff import DiffLine, TreeDiff, diff
    from spectralnlp_trees.comparison.errors import Repair, TreeError, TreeErrors, find_errors
    from spectralnlp_trees.comparison.kinds import ErrorType
    from spectralnlp_trees.comparison.page import as_page
    from spectralnlp_trees.comparison.text import as_text
    from spectralnlp_trees.comparison.workspace import Bracket
    from spectralnlp_trees.dependencies.conversion import SCHEMES, foreign_tags, is_english, to_dependencies
    from spectralnlp_trees.dependencies.graph import Dependencies
    from spectralnlp_trees.measures.measure import measure, measure_each
    from spectralnlp_trees.measures.structures import RATIOS, STRUCTURES
    from spectralnlp_trees.measures.values import LengthProfile, Measures
    from spectralnlp_trees.rewriting.rewrite import Rewriting, rewrite
    from spectralnlp_trees.tregex.counting import count_by
    from spectralnlp_trees.tregex.matches import Match, MatchedNode, TreeIndex, count, search
    from spectralnlp_trees.tregex.pattern_error import PatternError

__all__ = [
    "RATIOS",
    "SCHEMES",
    "STRUCTURES",
    "AnalysedSentence",
    "Analysis",
    "Bracket",
    "Dependencies",
    "DiffLine",
    "Doubt",
    "ErrorType",
    "LengthProfile",
    "Match",
    "MatchedNode",
    "Measures",
    "PatternError",
    "Repair",
    "Rewriting",
    "TreeDiff",
    "TreeError",
    "TreeErrors",
    "TreeIndex",
    "TypeCount",
    "analyse",
    "as_page",
    "as_text",
    "audit",
    "count",
    "count_by",
    "diff",
    "find_errors",
    "foreign_tags",
    "is_english",
    "measure",
    "measure_each",
    "rewrite",
    "search",
    "to_dependencies",
]

_MODULES = {
    "RATIOS": "measures.structures",
    "SCHEMES": "dependencies.conversion",
    "STRUCTURES": "measures.structures",
    "AnalysedSentence": "comparison.analysis",
    "Analysis": "comparison.analysis",
    "Bracket": "comparison.workspace",
    "Dependencies": "dependencies.graph",
    "DiffLine": "comparison.diff",
    "Doubt": "auditing.doubts",
    "ErrorType": "comparison.kinds",
    "LengthProfile": "measures.values",
    "Match": "tregex.matches",
    "MatchedNode": "tregex.matches",
    "Measures": "measures.values",
    "PatternError": "tregex.pattern_error",
    "Repair": "comparison.errors",
    "Rewriting": "rewriting.rewrite",
    "TreeDiff": "comparison.diff",
    "TreeError": "comparison.errors",
    "TreeErrors": "comparison.errors",
    "TreeIndex": "tregex.matches",
    "TypeCount": "comparison.analysis",
    "analyse": "comparison.analysis",
    "as_page": "comparison.page",
    "as_text": "comparison.text",
    "audit": "auditing.audit",
    "count": "tregex.matches",
    "count_by": "tregex.counting",
    "diff": "comparison.diff",
    "find_errors": "comparison.errors",
    "foreign_tags": "dependencies.conversion",
    "is_english": "dependencies.conversion",
    "measure": "measures.measure",
    "measure_each": "measures.measure",
    "rewrite": "rewriting.rewrite",
    "search": "tregex.matches",
    "to_dependencies": "dependencies.conversion",
}


def __getattr__(name: str) -> Any:
    # Modules are imported on first use: --help needs none of them, and a search needs no comparison code.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
