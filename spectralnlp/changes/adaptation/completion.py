"""Complete partially annotated sentences: find the trees with the known brackets, and their probabilities."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from spectralnlp.inference.trees.likeliest import likeliest_trees
from spectralnlp.inference.trees.rescoring.rescorer import rescore
from spectralnlp.models.last_resort import check_possible
from spectralnlp.models.parser import Parser
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

# Maximum number of derivations of a sentence, and minimum probability of a tree relative to the best one.
_MOST, _LEAST = 32, 0.01


class WeightedTree(NamedTuple):
    """Candidate tree of a sentence, with its probability.

    Attributes:
        tree: the tree, without the root ``TOP``.
        share: probability of the tree among the candidates, in (0, 1].
    """

    tree: Tree
    share: float


def completions(parser: Parser, sentence: Sentence) -> list[WeightedTree]:
    """Return the most probable trees of a sentence under its constraints, best first; probabilities sum to 1.

    Counts over these trees, weighted by probability, approximate the grammar's expected counts: the E step of
    Pereira and Schabes (1992). Trees with less than a hundredth of the best tree's probability are left out.

    Args:
        parser: a parser; only the grammars of its first binarisation are used.
        sentence: a sentence, with or without constraints on its tree.

    Returns:
        Candidate trees; empty if the parser has no tree for the words, or none with a positive probability.

    Raises:
        ConstraintError: the constraints are invalid for the sentence.
        NoTreeError: no tree meets the constraints.
    """
    given = parser.look_up(sentence, pooled=False)
    forests = rescore(parser.forest_parser.infer(given), parser.forest_parser.rescorer)
    if not forests.scored:
        check_possible(parser.forest_parser, given)
        return []
    number, scored = forests.first
    shares: dict[Tree, float] = defaultdict(float)
    for share, choice in likeliest_trees(scored, _MOST):
        shares[parser.forest_parser.pool.tree(number, scored, choice, sentence.forms)] += share
    most = max(shares.values(), default=0.0)
    if not most:  # a sentence so long that no tree has a probability above 0
        return []
    kept = {tree: share for tree, share in shares.items() if share >= _LEAST * most}
    total = sum(kept.values())
    likely = (WeightedTree(tree, share / total) for tree, share in kept.items())
    return sorted(likely, key=lambda each: -each.share)
