"""The audit of a treebank: every tree is doubted by a parser of the other documents, and by its own words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

import spectralnlp
from spectralnlp.errors import InputError
from spectralnlp.trees import Tree
from spectralnlp.trees.parse import BracketPosteriors
from spectralnlp_trees.auditing.changes import Evidence, changes
from spectralnlp_trees.auditing.doubts import Doubt, Kind
from spectralnlp_trees.auditing.variation import Concordance, bracket_variation, tag_variation

# How many folds, the fewest documents or blocks of each, and the fewest trees that teach a parser anything.
_FOLDS, _PARTS, _LEAST_TREES = 5, 5, 30
# The span scorer levels posteriors: fewer planted errors are found, at three times the cost
# (benchmarks/experiments/trees.md).
_SETTINGS: dict[str, Any] = {"preset": "fast", "span_scorer": False, "sentence_ends": False}
# How much it counts that a label is often doubted, the nodes that such shares are smoothed with, and what a
# doubt loses to each stronger one of its sentence: mostly they have one cause.
_USUAL, _SMOOTHING, _SAME_SENTENCE = 0.4, 20, 1.0
_OTHERS = 8  # places that are shown


def audit(
    trees: Sequence[Tree],
    documents: Sequence[int] | None = None,
    *,
    most: int | None = None,
    report_done: Callable[[], None] = lambda: None,
) -> list[Doubt]:
    """Find doubtful nodes, the most doubtful first.

    Args:
        trees: of a treebank, cleaned.
        documents: of each tree, ascending: no tree is parsed by what learned from its document. None for
            one document, of which blocks are held out.
        most: nodes to return; None for all that anything speaks against.
        report_done: called after each tree.

    Raises:
        InputError: there are fewer than 30 trees.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import audit
        >>> trees = spectralnlp.read_treebank("corpora/treebank/train.mrg")
        >>> doubts = audit(list(trees), most=5)
        >>> len(doubts), doubts[0].doubt >= doubts[4].doubt
        (5, True)
    """
    if len(trees) < _LEAST_TREES:
        what = f"{len(trees)} trees are too few to tell what is usual"
        raise InputError(what, hint=f"give {_LEAST_TREES} or more")
    found: list[tuple[int, Evidence]] = []
    counts = Counter(word for tree in trees for word in tree.words())
    tags, brackets = tag_variation(trees), bracket_variation(trees)
    for number, near in _posteriors(trees, documents):
        if near is not None:
            some = changes(trees[number], near, tags[number], brackets[number], counts)
            found += ((number, each) for each in some)
        report_done()
    ranked = _ranked(trees, found)[:most]
    places = Concordance(trees)
    return [_with_others(each, places) for each in ranked]


def _posteriors(
    trees: Sequence[Tree], documents: Sequence[int] | None
) -> Iterator[tuple[int, BracketPosteriors | None]]:
    """The number of each tree, and posteriors by a parser of the other folds."""
    folds = _folds([0] * len(trees) if documents is None else documents)
    for fold in range(_FOLDS):
        others = [tree for tree, own in zip(trees, folds.tolist(), strict=True) if own != fold]
        parser = spectralnlp.train("lpcfg", others, **_SETTINGS)
        for number in np.flatnonzero(folds == fold).tolist():
            yield number, parser.posteriors_near(trees[number])


def _folds(documents: Sequence[int]) -> NDArray[np.int64]:
    """The fold of each tree: by documents if there are enough, or else by blocks of neighbouring trees."""
    _, rank = np.unique(documents, return_inverse=True)
    if rank.max() + 1 >= _PARTS * _FOLDS:
        return rank % _FOLDS
    return np.arange(len(rank)) * _PARTS * _FOLDS // len(rank) % _FOLDS


def _ranked(trees: Sequence[Tree], found: Sequence[tuple[int, Evidence]]) -> list[Doubt]:
    """Doubts by their log-odds, against how often nodes with the same label are doubted."""
    there = Counter[tuple[bool, str]]()
    for tree in trees:
        there.update((False, label) for label, _, _ in tree.spans())
        there.update((True, tag) for tag in tree.tags())
    doubted = Counter(_class(evidence) for _, evidence in found)

    def doubt(evidence: Evidence) -> float:
        label, is_tag = evidence.change.place.label, evidence.change.kind == Kind.TAG
        share = (doubted[_class(evidence)] + 1) / (there[is_tag, label] + _SMOOTHING)
        return evidence.log_odds - _USUAL * log(share)

    scored = [(doubt(evidence), number, evidence) for number, evidence in found]
    scored.sort(key=lambda each: (-each[0], each[1], each[2].change.place))
    stronger, doubts = Counter[int](), []
    for value, number, evidence in scored:
        change, variation = evidence.change, evidence.variation
        counts = (variation.as_is, variation.as_proposed) if variation else (0, 0)
        own = value - _SAME_SENTENCE * stronger[number]
        doubts.append(Doubt(number, change, own, evidence.posterior, evidence.proposed_posterior, *counts))
        stronger[number] += 1
    return sorted(doubts, key=lambda each: -each.doubt)


def _class(evidence: Evidence) -> tuple[str, str]:
    """Nodes of which as many are doubted: tags, brackets and missing brackets of a label."""
    kind = evidence.change.kind
    return kind if kind in (Kind.TAG, Kind.MISSING) else "bracket", evidence.change.place.label


def _with_others(doubt: Doubt, places: Concordance) -> Doubt:
    change, place = doubt.change, doubt.change.proposed or doubt.change.place
    wanted = (change.proposed.label,) if change.proposed else ()
    is_tag = change.kind == Kind.TAG
    others = places.others(doubt.tree, place.start, place.end, wanted, is_tag=is_tag, most=_OTHERS)
    return replace(doubt, others=others)
