"""Dependencies of parses, whose sentences know forms and spaces.

English trees give basic Universal Dependencies; those of other languages heads without labels, by neutral
head rules.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from spectralnlp.render.tags import text_of
from spectralnlp_trees.dependencies.conversion import is_english, to_dependencies

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse
    from spectralnlp_trees.dependencies.graph import Dependencies


def parse_dependencies(parse: Parse, scheme: str | None = None) -> Dependencies:
    """The dependencies of a parse, over the words of its tree.

    Args:
        parse: of a sentence.
        scheme: see `to_dependencies`; None for ``ud`` of English and ``heads`` of other languages.

    Raises:
        ConfigError: there is no such scheme.
    """
    english = is_english(parse.tree)
    if scheme is None:
        scheme = "ud" if english else "heads"
    return to_dependencies(parse.tree, scheme, head_rules="english" if english else "neutral")


def parse_to_conllu(parse: Parse, scores: bool = False, scheme: str | None = None) -> str:
    """CoNLL-U of a parse, ends in an empty line; forms, spaces and the text are those of the sentence.

    Args:
        parse: of a sentence.
        scores: whether the log-probability stands above.
        scheme: of dependencies; see `parse_dependencies`.

    Raises:
        ConfigError: there is no such scheme.
    """
    found = parse_dependencies(parse, scheme)
    tokens = parse.sentence.tokens
    comments = {"text": text_of(parse.sentence)}
    if scores and parse.log_probability is not None:
        comments["log_probability"] = f"{parse.log_probability:.4f}"
    joined = [token.end == following.start for token, following in itertools.pairwise(tokens)]
    misc = ["SpaceAfter=No" if each else "_" for each in [*joined, False]]
    words = tuple(token.text for token in tokens)
    return replace(found, words=words).to_conllu({**comments, "constituency": str(parse.tree)}, misc)
