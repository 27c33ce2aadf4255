"""Dependencies from constituency trees: Universal and Stanford ones of English, heads in any language.

`to_dependencies` makes `Dependencies`, which write themselves as CoNLL-U. docs/how-to/dependencies.md has the
rules in short. The package is registered as the tree tool ``dependencies``:
its names are for those who ask there.
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
