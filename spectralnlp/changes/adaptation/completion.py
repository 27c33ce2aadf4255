"""The trees that a sentence may have some of whose brackets are known, and how likely each of them is."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from spectralnlp.inference.trees.likeliest import likeliest_trees
from spectralnlp.models.last_resort import check_possible
from spectralnlp.models.parser import Parser
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

# Derivations of a sentence that are looked at, and the least share of a tree in the likeliest one's.
_MOST, _LEAST = 32, 0.01


class WeightedTree(NamedTuple):
    """A tree that a sentence may have.

    Attributes:
        tree: without TOP.
        share: its probability, in (0, 1].
    """

    tree: Tree
    share: float


def completions(parser: Parser, sentence: Sentence) -> list[WeightedTree]:
    """The likeliest trees of a sentence under its constraints, the best first; their shares add up to 1.

    What occurs in these trees, each counted by its share, is what the grammar expects to occur in the
    sentence, but for trees too unlikely to matter: the E step of Pereira and Schabes (1992).

    Args:
        parser: of which the first binarisation counts.
        sentence: with constraints, or without.

    Returns:
        Nothing where the parser has no tree for the words anyway, or none that is likely.

    Raises:
        ConstraintError: the constraints make no sense.
        NoTreeError: no tree meets them.
    """
    given = parser.look_up(sentence, pooled=False)
    forests = parser.forest_parser.rescore(parser.forest_parser.infer(given))
    if not forests.scored:
        check_possible(parser.forest_parser, given)
        return []
    number, scored = forests.first
    shares: dict[Tree, float] = defaultdict(float)
    for share, choice in likeliest_trees(scored, _MOST):
        shares[parser.forest_parser.tree(number, scored, choice, sentence.forms)] += share
    most = max(shares.values())
    if not most:  # a sentence so long that no tree has a probability above 0
        return []
    kept = {tree: share for tree, share in shares.items() if share >= _LEAST * most}
    total = sum(kept.values())
    likely = (WeightedTree(tree, share / total) for tree, share in kept.items())
    return sorted(likely, key=lambda each: -each.share)
