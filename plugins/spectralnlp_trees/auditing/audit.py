"""Find likely annotation errors: nodes that disagree with a parser or with other trees of the treebank."""

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

# Number of folds, minimum number of documents or blocks per fold, and minimum number of trees.
_FOLDS, _PARTS, _MIN_TREES = 5, 5, 30
# The span scorer flattens posteriors: with it, fewer planted errors are found, at three times the cost
# (benchmarks/experiments/trees.md).
_SETTINGS: dict[str, Any] = {"preset": "fast", "span_scorer": False, "sentence_ends": False}
# Weight of the share of doubted nodes of a label, pseudo-count that smooths this share, and penalty of a
# doubt for each stronger doubt in its sentence, because they usually have a common cause.
_USUAL, _SMOOTHING, _SAME_SENTENCE = 0.4, 20, 1.0
_OTHERS = 8  # other occurrences that are shown


def audit(
    trees: Sequence[Tree],
    documents: Sequence[int] | None = None,
    *,
    limit: int | None = None,
    report_done: Callable[[], None] = lambda: None,
) -> list[Doubt]:
    """Find nodes of a treebank that are probably annotation errors, the most doubtful first.

    Evidence against a node comes from the posteriors of a parser that was trained on other documents
    (5 folds), and from different annotation of the same words between the same neighbours elsewhere.

    Args:
        trees: trees of a treebank, without traces and function tags.
        documents: for each tree, the number of its document, ascending; None for a single document. If there
            are at least 25, whole documents are held out when a parser is trained; otherwise blocks of
            adjacent trees.
        limit: maximum number of nodes returned; None for all nodes with evidence against them.
        report_done: function called after each tree, for example to show progress.

    Raises:
        InputError: there are fewer than 30 trees.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp_trees import audit
        >>> trees = spectralnlp.read_treebank("corpora/treebank/train.mrg")
        >>> doubts = audit(list(trees), limit=5)
        >>> len(doubts), doubts[0].doubt >= doubts[4].doubt
        (5, True)
    """
    if len(trees) < _MIN_TREES:
        what = f"{len(trees)} trees are too few to tell what is usual"
        raise InputError(what, hint=f"give {_MIN_TREES} or more")
    evidence: list[tuple[int, Evidence]] = []
    counts = Counter(word for tree in trees for word in tree.words())
    tags, brackets = tag_variation(trees), bracket_variation(trees)
    for number, near in _posteriors(trees, documents):
        if near is not None:
            proposed = changes(trees[number], near, tags[number], brackets[number], counts)
            evidence += ((number, each) for each in proposed)
        report_done()
    ranked = _ranked(trees, evidence)[:limit]
    places = Concordance(trees)
    return [_with_others(each, places) for each in ranked]


def _posteriors(
    trees: Sequence[Tree], documents: Sequence[int] | None
) -> Iterator[tuple[int, BracketPosteriors | None]]:
    """Yield the index of each tree, and posteriors of its brackets and tags by cross-validation.

    The parser that gives the posteriors was trained on the other folds. The posteriors are None if this
    parser derives no tree for the words. Trees are yielded fold by fold.
    """
    folds = _folds([0] * len(trees) if documents is None else documents)
    for fold in range(_FOLDS):
        others = [tree for tree, other in zip(trees, folds.tolist(), strict=True) if other != fold]
        parser = spectralnlp.train("lpcfg", others, **_SETTINGS)
        for number in np.flatnonzero(folds == fold).tolist():
            yield number, parser.posteriors_near(trees[number])


def _folds(documents: Sequence[int]) -> NDArray[np.int64]:
    """Return the cross-validation fold of each tree, from 0 to 4; integers (n_trees,).

    Folds consist of whole documents if there are at least 25, else of blocks of adjacent trees.
    """
    _, rank = np.unique(documents, return_inverse=True)
    if rank.max() + 1 >= _PARTS * _FOLDS:
        return rank % _FOLDS
    return np.arange(len(rank)) * _PARTS * _FOLDS // len(rank) % _FOLDS


def _ranked(trees: Sequence[Tree], proposals: Sequence[tuple[int, Evidence]]) -> list[Doubt]:
    """Score proposed changes, and return them as `Doubt` objects, the most doubtful first.

    The score of a change is its log-odds, lowered if many nodes with the same label are suspected, and
    lowered for each higher-scored change in the same tree.

    Args:
        trees: trees of the treebank.
        proposals: pairs (index of a tree, proposed change with its evidence).
    """
    there = Counter[tuple[bool, str]]()
    for tree in trees:
        there.update((False, label) for label, _, _ in tree.spans())
        there.update((True, tag) for tag in tree.tags())
    doubted = Counter(_class(evidence) for _, evidence in proposals)

    def doubt(evidence: Evidence) -> float:
        label, is_tag = evidence.change.place.label, evidence.change.kind == Kind.TAG
        share = (doubted[_class(evidence)] + 1) / (there[is_tag, label] + _SMOOTHING)
        return evidence.log_odds - _USUAL * log(share)

    scored = [(doubt(evidence), number, evidence) for number, evidence in proposals]
    scored.sort(key=lambda each: (-each[0], each[1], each[2].change.place))
    stronger, doubts = Counter[int](), []
    for value, number, evidence in scored:
        change, variation = evidence.change, evidence.variation
        counts = (variation.as_is, variation.as_proposed) if variation else (0, 0)
        score = value - _SAME_SENTENCE * stronger[number]
        doubts.append(Doubt(number, change, score, evidence.posterior, evidence.proposed_posterior, *counts))
        stronger[number] += 1
    return sorted(doubts, key=lambda each: -each.doubt)


def _class(evidence: Evidence) -> tuple[str, str]:
    """Return the category of a suspected error (``tag``, ``bracket`` or ``missing``), and the node's label.

    Suspected errors are counted by category and label: a label that is suspected often is probably right.
    """
    kind = evidence.change.kind
    return kind if kind in (Kind.TAG, Kind.MISSING) else "bracket", evidence.change.place.label


def _with_others(doubt: Doubt, places: Concordance) -> Doubt:
    change, place = doubt.change, doubt.change.proposed or doubt.change.place
    wanted = (change.proposed.label,) if change.proposed else ()
    is_tag = change.kind == Kind.TAG
    others = places.others(doubt.tree, place.start, place.end, wanted, is_tag=is_tag, limit=_OTHERS)
    return replace(doubt, others=others)
