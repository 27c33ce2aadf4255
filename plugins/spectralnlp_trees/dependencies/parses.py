"""Convert parses to dependencies and CoNLL-U, with the original word forms and spaces.

English trees become basic Universal Dependencies; trees of other languages become unlabelled dependencies, by
neutral head rules.
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
    """Return the dependencies of a parse, over the words of its tree.

    Args:
        parse: parse of a sentence.
        scheme: ``ud``, ``stanford`` or ``heads``, as for `to_dependencies`; None for ``ud`` if the tags are
            English and ``heads`` otherwise.

    Raises:
        ConfigError: the scheme is unknown.
    """
    english = is_english(parse.tree)
    if scheme is None:
        scheme = "ud" if english else "heads"
    return to_dependencies(parse.tree, scheme, head_rules="english" if english else "neutral")


def parse_to_conllu(parse: Parse, scores: bool = False, scheme: str | None = None) -> str:
    """Return a parse in CoNLL-U, with the original word forms and spaces.

    The text ends in a line break; ``print`` adds the empty line that CoNLL-U needs after a sentence.

    Args:
        parse: parse of a sentence.
        scores: whether to write the log-probability in a comment line.
        scheme: dependency scheme, as for `parse_dependencies`.

    Raises:
        ConfigError: the scheme is unknown.
    """
    dependencies = parse_dependencies(parse, scheme)
    tokens = parse.sentence.tokens
    comments = {"text": text_of(parse.sentence)}
    if scores and parse.log_probability is not None:
        comments["log_probability"] = f"{parse.log_probability:.4f}"
    joined = [token.end == following.start for token, following in itertools.pairwise(tokens)]
    misc = ["SpaceAfter=No" if each else "_" for each in [*joined, False]]
    words = tuple(token.text for token in tokens)
    return replace(dependencies, words=words).to_conllu({**comments, "constituency": str(parse.tree)}, misc)
