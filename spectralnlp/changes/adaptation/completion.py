"""Complete partially annotated sentences: find the trees with the known brackets, and their probabilities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial as bound

from spectralnlp.changes.adaptation.domain import WeightedTree
from spectralnlp.inference.trees.likeliest import likeliest_trees
from spectralnlp.inference.trees.rescoring.rescorer import rescore
from spectralnlp.models.last_resort import check_possible
from spectralnlp.models.parser import Parser
from spectralnlp.runtime import map_ordered
from spectralnlp.tasks.task import ProgressCallback
from spectralnlp.text.constraints import NoTreeError
from spectralnlp.text.tokens import Sentence
from spectralnlp.trees import Tree

# Maximum number of derivations of a sentence, and minimum probability of a tree relative to the best one.
_MOST, _LEAST = 32, 0.01
_SHOWN = 60  # characters shown of a skipped sentence


def completed_trees(
    parser: Parser, partial: Iterable[Sentence], report: ProgressCallback
) -> list[list[WeightedTree]]:
    """Return the probable trees of each partially annotated sentence; sentences without a tree are skipped.

    Args:
        parser: the parser, already adapted to complete trees.
        partial: sentences with constraints on their trees.
        report: progress callback; called once with a line that gives the number of sentences with trees, and
            quotes the first skipped sentence.

    Raises:
        InputError: the constraints of a sentence are invalid.
    """
    completed: list[list[WeightedTree]] = []
    left_out: list[str] = []
    for trees, reason in map_ordered(bound(_completed, parser), partial):
        if trees:
            completed.append(trees)
        else:
            left_out.append(reason)
    n_all, ways = len(completed) + len(left_out), sum(map(len, completed)) / max(len(completed), 1)
    others = f"; the first of the others, {left_out[0]}" if left_out else ""
    report(f"adapt: {len(completed):,} of {n_all:,} partial trees completed, {ways:.1f} ways each{others}")
    return completed


def _completed(parser: Parser, sentence: Sentence) -> tuple[list[WeightedTree], str]:
    """Return the probable trees of a sentence under its constraints, or the reason why there are none.

    Returns:
        The trees, and a message that quotes the sentence and says why it has no tree; empty if there are
        trees.
    """
    reason = "the model has no tree for its words"
    try:
        if trees := completions(parser, sentence):
            return trees, ""
    except NoTreeError as error:
        reason = error.what
    return [], f"{' '.join(sentence.words)[:_SHOWN]!r}: {reason}"


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
