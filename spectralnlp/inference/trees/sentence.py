"""A sentence as the stages of parsing hand it on: with what is known of its words, and with its forests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.inference.trees.cells import Cells
from spectralnlp.inference.trees.limits import SpanLimits
from spectralnlp.inference.trees.open_cells import CellMarginals
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.parameters import Floats
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.constraints import Constraints

# Tags that a sentence's words must have; None for a word that may have any tag.
Tags = Sequence[str | None]


@dataclass(frozen=True)
class SentenceInput:
    """A sentence with everything that is computed once for all attempts to parse it.

    Attributes that are tuples have one entry for each binarisation.

    Attributes:
        words: tokens, written in the model's tokenisation conventions.
        read_as: the words in their likely letter case, in which they are looked up; see `likely_case`.
        tags: the tags that the words must have; None if they may have any.
        constraints: constraints on the tree.
        lookups: the words' entries in the lexicon.
        allowed: bool (n_tokens, n_symbols), the tags that each token may have; None for all.
        tag_values: float64 (n_tokens, n_symbols), lexical weights of tags under the coarse grammar.
        limits: symbols and unary rules allowed over spans; None for all.
        cells: spans considered in the first attempt (open cells), for all binarisations; None until
            `ForestParser.open_cells`.
        cell_marginals: marginals of all spans that may be considered; None without a model of open cells.
        annotations: tags and a dependency parse, for a span scorer that was trained with them; None for none.
    """

    words: Sequence[str]
    read_as: Sequence[str]
    tags: Tags | None
    constraints: Constraints | None
    lookups: tuple[Lookup, ...]
    allowed: tuple[NDArray[np.bool_] | None, ...]
    tag_values: tuple[Floats, ...]
    limits: tuple[SpanLimits | None, ...]
    cells: Cells | None = None
    cell_marginals: CellMarginals | None = None
    annotations: Annotations | None = None

    __repr__ = one_line


@dataclass(frozen=True)
class Forests:
    """The packed forests (sets of parses) of a sentence, scored by the grammars of each binarisation.

    Attributes:
        sentence: the sentence.
        scored: the forests by index of the binarisation; empty if the sentence has no derivation.
        log_probability: natural logarithm of the sentence's probability under the first of the grammars that
            could score it.
        any_tag: whether a derivation was found only after allowing every tag for every word.
        coarse_only: whether only the coarse grammars could score the sentence.
    """

    sentence: SentenceInput
    scored: Mapping[int, ScoredForest]
    log_probability: float = -np.inf
    any_tag: bool = False
    coarse_only: bool = False

    __repr__ = one_line

    @property
    def first(self) -> tuple[int, ScoredForest]:
        """The first binarisation that has a forest: its index, and the forest."""
        return next(iter(self.scored.items()))


def merge_tags(tags: Tags | None, constraints: Constraints | None, n_tokens: int) -> Tags | None:
    """Return the tags that words must have (None for any), from given tags and from constraints.

    Args:
        tags: for each word the tag that it must have, or None for any; None if no word has such a tag.
        constraints: constraints, whose tags replace those in ``tags``.
        n_tokens: number of words.

    Returns:
        A tag or None for each word; None if no word has a prescribed tag.
    """
    if constraints is None or not constraints.tags:
        return tags
    given = dict(constraints.tags)
    return [given.get(token, None if tags is None else tags[token]) for token in range(n_tokens)]
