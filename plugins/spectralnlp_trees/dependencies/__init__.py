"""Convert constituency trees to dependencies: Universal or Stanford for English, heads for any language.

`to_dependencies` returns `Dependencies`, which can be written as CoNLL-U. docs/how-to/dependencies.md sums up
the rules. The package is registered as the tool ``dependencies``, under which the package spectralnlp finds
these functions.
"""

from __future__ import annotations

from spectralnlp_trees.dependencies.content_heads import content_head_words
from spectralnlp_trees.dependencies.conversion import foreign_tags, to_dependencies
from spectralnlp_trees.dependencies.parses import parse_dependencies, parse_to_conllu

__all__ = [
    "content_head_words",
    "foreign_tags",
    "parse_dependencies",
    "parse_to_conllu",
    "to_dependencies",
]
