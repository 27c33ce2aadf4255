"""Propose corrections of a tree, by parser posteriors and by the annotation of the same words elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log
from typing import NamedTuple

from spectralnlp.trees import Tree
from spectralnlp.trees.parse import BracketPosteriors
from spectralnlp_trees.auditing.doubts import Change, Kind
from spectralnlp_trees.auditing.variation import Span, Variation, labels_by_span
from spectralnlp_trees.comparison.workspace import Bracket

# Added to posteriors, because pruned brackets are not impossible and small posteriors are unreliable. The
# second, divided by the word's frequency, is also added to tag posteriors: a rare word may have tags that it
# was not seen with (benchmarks/experiments/trees.md).
_EPSILON, _UNSEEN_TAG = 3e-4, 0.01
# Weight of removing a bracket, so that replacing it by another is preferred.
_GOES = 0.8


class Evidence(NamedTuple):
    """Proposed change of a treebank's tree, with the evidence for it.

    Attributes:
        change: the proposed change.
        posterior: posterior probability that a parser gives to the present annotation.
        proposed_posterior: posterior probability that the parser gives to the proposed annotation.
        variation: frequencies of both annotations of the same words in the treebank; None if these do not
            support the change.
        uncertain: smoothing constant, added to both posteriors; larger for tags of rare words.
    """

    change: Change
    posterior: float
    proposed_posterior: float
    variation: Variation | None = None
    uncertain: float = _EPSILON

    @property
    def log_odds(self) -> float:
        """Log-odds that the change is right, from both posteriors and, if any, ``variation``."""
        odds = log((self.proposed_posterior + self.uncertain) / (self.posterior + self.uncertain))
        if self.variation is not None:
            odds += log((self.variation.as_proposed + 0.5) / (self.variation.as_is + 0.5))
        return odds


def changes(
    tree: Tree,
    near: BracketPosteriors,
    tags: Mapping[Span, Variation],
    brackets: Mapping[Span, Variation],
    counts: Mapping[str, int],
) -> Iterator[Evidence]:
    """Yield the best-supported change of each doubtful node of a tree, and each likely missing node.

    Args:
        tree: tree of a treebank.
        near: result of `Parser.posteriors_near` for the tree, with posteriors of brackets and tags; the
            parser was not trained on this tree.
        tags: result of `tag_variation` for the tree: spans of tokens whose word more often has another tag.
        brackets: result of `bracket_variation` for the tree: spans whose words more often have other labels.
        counts: frequency of each word in the treebank.
    """
    yield from _of_tags(tree, near, tags, counts)
    best: dict[Bracket, Evidence] = {}
    for evidence in [*_of_posteriors(tree, near), *_of_variation(tree, near, brackets)]:
        place = evidence.change.place
        if place not in best or evidence.log_odds > best[place].log_odds:
            best[place] = evidence
    yield from (each for each in best.values() if each.log_odds > 0)


def _of_tags(
    tree: Tree, near: BracketPosteriors, varying: Mapping[Span, Variation], counts: Mapping[str, int]
) -> Iterator[Evidence]:
    words = tree.words()
    for token, (tag, posteriors) in enumerate(zip(tree.tags(), near.tags, strict=True)):
        variation = varying.get((token, token + 1))
        others = {name: value for name, value in posteriors.items() if name != tag}
        if variation is not None:
            others.setdefault(variation.labels[0], 0.0)
        proposals = [
            Evidence(
                Change(Kind.TAG, Bracket(tag, token, token + 1), Bracket(name, token, token + 1)),
                posteriors.get(tag, 0.0),
                value,
                variation if variation is not None and variation.labels == (name,) else None,
                _EPSILON + _UNSEEN_TAG / counts[words[token]],
            )
            for name, value in others.items()
        ]
        best = max(proposals, key=lambda each: each.log_odds, default=None)
        if best is not None and best.log_odds > 0:
            yield best


def _of_posteriors(tree: Tree, near: BracketPosteriors) -> Iterator[Evidence]:
    """Yield changes that a parser's posteriors support: to remove, replace or add a bracket.

    Args:
        tree: tree of a treebank.
        near: posteriors of brackets by a parser, as for `changes`.
    """
    there = labels_by_span(tree)
    over: dict[Span, dict[str, float]] = {}
    for (label, start, end), value in near.brackets.items():
        over.setdefault((start, end), {})[label] = value
    missing = {
        Bracket(label, *span): value
        for span, labels in over.items()
        for label, value in labels.items()
        if value > 0.3 and label not in there.get(span, ())
    }
    used: set[Bracket] = set()
    for (start, end), labels in there.items():
        for label in labels:
            node, posterior = Bracket(label, start, end), _posterior(near, there, label, (start, end))
            if posterior > 0.5:
                continue
            others = sum(value for name, value in over.get((start, end), {}).items() if name not in labels)
            change, odds = Change(Kind.EXTRA, node, None), 1.0 - min(others + posterior, 1.0)
            worth = _GOES * odds
            for other, value in missing.items():
                kind = _kind(node, other)
                if kind is not None and value > worth:
                    change, odds, worth = Change(kind, node, other), value, value
            if change.proposed is not None:
                used.add(change.proposed)
            yield Evidence(change, posterior, odds)
    for bracket, value in missing.items():
        if bracket not in used and value > 0.5:
            yield Evidence(Change(Kind.MISSING, None, bracket), 1.0 - value, value)


def _kind(node: Bracket, other: Bracket) -> Kind | None:
    """Return the kind of error that replacing a bracket by another corrects; None if they differ too much.

    The other bracket must have the same words, or the same label and one end in common.

    Args:
        node: the present bracket.
        other: the bracket that would replace it.
    """
    same_start, same_end = node.start == other.start, node.end == other.end
    if same_start and same_end:
        return Kind.LABEL
    return Kind.MOVED if node.label == other.label and same_start != same_end else None


def _posterior(
    near: BracketPosteriors, there: Mapping[Span, tuple[str, ...]], label: str, span: Span
) -> float:
    """Return the posterior probability that a parser gives to a bracket of a treebank's tree.

    For a bracket in the middle of a unary chain, the maximum over all labels of the chain is returned.

    Args:
        near: posteriors of brackets by a parser, as for `changes`.
        there: labels of the tree's brackets by span, topmost first.
        label, span: label and word range of the bracket.
    """
    labels = there[span]
    asked = {label} if label in (labels[0], labels[-1]) else {*labels}
    return max(near.brackets.get((each, *span), 0.0) for each in asked)


def _of_variation(
    tree: Tree, near: BracketPosteriors, varying: Mapping[Span, Variation]
) -> Iterator[Evidence]:
    """Yield changes of brackets to the labels that the same words have most often in the treebank.

    Args:
        tree: tree of a treebank.
        near: posteriors of brackets by a parser, as for `changes`.
        varying: result of `bracket_variation` for the tree: spans whose words more often have other labels.
    """
    there = labels_by_span(tree)
    for span, variation in varying.items():
        labels = there.get(span, ())
        gone = [label for label in labels if label not in variation.labels]
        come = [label for label in variation.labels if label not in labels]
        node = Bracket(gone[0], *span) if gone else None
        proposed = Bracket(come[0], *span) if come else None
        if node is None and proposed is None:
            continue  # the same labels in another order
        kind = Kind.LABEL if node and proposed else Kind.EXTRA if node else Kind.MISSING
        probable = near.brackets.get((proposed.label, *span), 0.0) if proposed else 0.0
        posterior = _posterior(near, there, node.label, span) if node else 1.0 - probable
        if proposed is None:
            probable = 1.0 - posterior
        yield Evidence(Change(kind, node, proposed), posterior, probable, variation)
