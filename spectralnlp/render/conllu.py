"""``conllu``: words, tags, and the dependencies that a tree stands for, as CoNLL-U.

English trees give basic Universal Dependencies; those of other languages heads without labels, by the head
rules that the model has learned.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from spectralnlp.dependencies import is_english, to_dependencies
from spectralnlp.render.tags import text_of

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse


def render(parse: Parse, scores: bool = False) -> str:
    """The words with their dependencies, ends in an empty line; ``scores`` adds the log-probability above."""
    english = isinstance(parse.head_rules, str) and is_english(parse.tree)
    return with_dependencies(parse, "ud" if english else "heads", scores=scores)


def with_dependencies(parse: Parse, scheme: str, *, scores: bool = False) -> str:
    """CoNLL-U of a parse; forms, spaces and the text are those of the sentence.

    Args:
        parse: of a sentence.
        scheme: of dependencies; see `spectralnlp.dependencies.to_dependencies`.
        scores: whether the log-probability stands above.

    Raises:
        ConfigError: there is no such scheme.
    """
    found = to_dependencies(parse.tree, scheme, head_rules=parse.head_rules)
    tokens = parse.sentence.tokens
    comments = {"text": text_of(parse.sentence)}
    if scores and parse.log_probability is not None:
        comments["log_probability"] = f"{parse.log_probability:.4f}"
    joined = [token.end == following.start for token, following in itertools.pairwise(tokens)]
    misc = ["SpaceAfter=No" if each else "_" for each in [*joined, False]]
    words = tuple(token.text for token in tokens)
    return replace(found, words=words).to_conllu({**comments, "constituency": str(parse.tree)}, misc)
