"""The result of parsing one sentence, as a value."""

from __future__ import annotations

from dataclasses import dataclass

from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree


@dataclass(frozen=True)
class Constituent:
    """One bracket of a tree.

    Attributes:
        label: its category.
        start, end: tokens, ``end`` exclusive.
        posterior: probability under the model that the sentence has this constituent, in [0, 1].
    """

    label: str
    start: int
    end: int
    posterior: float


@dataclass(frozen=True)
class Alternative:
    """One of a sentence's k best trees.

    Attributes:
        tree: under a root ``TOP``.
        score: total gain of the decoder, comparable among the trees of one sentence.
    """

    tree: Tree
    score: float


@dataclass(frozen=True)
class Parse:
    """A sentence and its tree.

    Attributes:
        tree: under a root ``TOP``; words as the model's treebank writes them.
        sentence: the tokens, with character offsets.
        log_probability: natural logarithm of the sentence's probability, all trees summed; None for
            a tree that is not the grammar's.
        constituents: of the tree without its root, parents first, unary chains kept.
        fallback: None, or why this is not simply the grammar's best tree.
        alternatives: the k best trees, the best first, where more than one was asked for.
    """

    tree: Tree
    sentence: Sentence
    log_probability: float | None
    constituents: tuple[Constituent, ...]
    fallback: str | None
    alternatives: tuple[Alternative, ...] = ()
