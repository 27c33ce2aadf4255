"""Changes of one tree that its parser, or the same words elsewhere, would make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import log
from typing import NamedTuple

from spectralnlp.trees import Tree
from spectralnlp.trees.parse import BracketPosteriors
from spectralnlp_trees.auditing.doubts import Change, Kind
from spectralnlp_trees.auditing.variation import Span, Variation, labels_by_span
from spectralnlp_trees.comparison.workspace import Bracket

# Added to posteriors: what was pruned is not impossible, and small ones say little; nor does it say much that
# a word was not seen with a tag if it was seen a few times only (benchmarks/experiments/trees.md).
_EPSILON, _UNSEEN_TAG = 3e-4, 0.01
# A bracket that goes and one that comes are one change before a bracket that only goes.
_GOES = 0.8


class Evidence(NamedTuple):
    """A change, and what speaks for it.

    Attributes:
        change: of a tree.
        posterior, proposed_posterior: of what is there, and of what would be.
        variation: of the same words elsewhere; None where they do not speak for it.
        uncertain: added to the posteriors, for what the parser cannot know.
    """

    change: Change
    posterior: float
    proposed_posterior: float
    variation: Variation | None = None
    uncertain: float = _EPSILON

    @property
    def log_odds(self) -> float:
        """Of the change by posteriors, and by how often the same words are annotated in both ways."""
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
    """For each node that somebody would change, and for each missing one, the change that most speaks for.

    Args:
        tree: of a treebank.
        near: posteriors of the trees that cross none of its brackets, by a parser that never saw it.
        tags, brackets: tokens and spans that are annotated in another way elsewhere.
        counts: of words in the treebank.
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
        found = [
            Evidence(
                Change(Kind.TAG, Bracket(tag, token, token + 1), Bracket(name, token, token + 1)),
                posteriors.get(tag, 0.0),
                value,
                variation if variation is not None and variation.labels == (name,) else None,
                _EPSILON + _UNSEEN_TAG / counts[words[token]],
            )
            for name, value in others.items()
        ]
        best = max(found, key=lambda each: each.log_odds, default=None)
        if best is not None and best.log_odds > 0:
            yield best


def _of_posteriors(tree: Tree, near: BracketPosteriors) -> Iterator[Evidence]:
    """Brackets that are improbable, with the likeliest in their place, and probable ones that are missing."""
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
    """What a bracket in place of another would be; None if they have nothing to do with each other."""
    same_start, same_end = node.start == other.start, node.end == other.end
    if same_start and same_end:
        return Kind.LABEL
    return Kind.MOVED if node.label == other.label and same_start != same_end else None


def _posterior(
    near: BracketPosteriors, there: Mapping[Span, tuple[str, ...]], label: str, span: Span
) -> float:
    """The posterior of a bracket; the middle of a chain is there where the chain is."""
    labels = there[span]
    asked = {label} if label in (labels[0], labels[-1]) else {*labels}
    return max(near.brackets.get((each, *span), 0.0) for each in asked)


def _of_variation(
    tree: Tree, near: BracketPosteriors, varying: Mapping[Span, Variation]
) -> Iterator[Evidence]:
    """The labels that spans mostly have elsewhere."""
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
