"""Parsing under constraints: what a grammar may use, why a sentence is refused, the tree of last resort."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.lexical import coarse_values
from spectralnlp.inference.trees.limits import LabelTable, SpanLimits
from spectralnlp.inference.trees.opening import WINDOW, Opening
from spectralnlp.inference.trees.pipeline import Inference, Pipeline, infer_together
from spectralnlp.inference.trees.rescoring.rescorer import SpanRescorer
from spectralnlp.inference.words.lexical import look_up
from spectralnlp.models.tag_evidence import TagEvidence, symbols_of_tag
from spectralnlp.parameters import Floats
from spectralnlp.text.constraints import Constraints, NoTreeError
from spectralnlp.trees import Tree, labels_of
from spectralnlp.trees.parse import Constituent

# Tags of a sentence's words; None for a word that may have any.
Tags = Sequence[str | None]


@dataclass(frozen=True)
class ConstrainedPipeline:
    """A pipeline, and how constraints read in its symbols.

    Args:
        pipeline: of one binarisation.
        chains: what its unary rules stand for; see `restore`.
    """

    pipeline: Pipeline
    chains: Mapping[tuple[str, str], Sequence[str]]

    @cached_property
    def table(self) -> LabelTable:
        """The labels that the grammar's symbols and rules bring to a span."""
        return LabelTable.of_grammar(self.pipeline.coarse, self.chains)

    def allowed(self, tags: Tags | None) -> NDArray[np.bool_] | None:
        """Bool (n_tokens, n_symbols): the symbols that given tags stand for; None where none is given."""
        grammar = self.pipeline.coarse
        if tags is None:
            return None
        return np.array([grammar.is_tag if tag is None else symbols_of_tag(grammar, tag) for tag in tags])

    def limits(self, constraints: Constraints | None) -> SpanLimits | None:
        """What the constraints allow over spans."""
        return None if constraints is None else self.table.limits(constraints)

    def derives(self, words: Sequence[str], tags: Tags | None, constraints: Constraints) -> bool:
        """Whether there is a tree under these constraints, with any word under any tag that is not given."""
        given = merge_tags(tags, constraints, len(words))
        return self.pipeline.derives(words, self.allowed(given), self.limits(constraints))


def merge_tags(tags: Tags | None, constraints: Constraints | None, n_tokens: int) -> Tags | None:
    """Tags of all words with those that constraints give; None where neither gives any."""
    if constraints is None or not constraints.tags:
        return tags
    given = dict(constraints.tags)
    return [given.get(token, None if tags is None else tags[token]) for token in range(n_tokens)]


def given_to(
    pipelines: Sequence[ConstrainedPipeline],
    tags: Tags | None,
    weights: Sequence[Floats] | None,
    constraints: Constraints | None,
) -> list[tuple[NDArray[np.bool_] | None, Floats | None, SpanLimits | None]]:
    """What each pipeline is given beside the words: allowed tags, weights of tags, and limits of spans."""
    return [
        (each.allowed(tags), weights[number] if weights else None, each.limits(constraints))
        for number, each in enumerate(pipelines)
    ]


class Found(NamedTuple):
    """The forests of a sentence, and what they were made from.

    Attributes:
        forests: by the number of their pipeline.
        tags: that its words must have; None where they may have any.
        opening: its open cells; None where no model opens them.
    """

    forests: list[tuple[int, Inference]]
    tags: Tags | None
    opening: Opening | None


def infer_forests(
    pipelines: Sequence[ConstrainedPipeline],
    words: Sequence[str],
    tags: Tags | None,
    evidence: TagEvidence | None,
    constraints: Constraints | None,
    rescorer: SpanRescorer | None,
) -> Found:
    """Return the forests of a sentence.

    Args:
        pipelines: one or more; those that find no forest where others do are left out.
        words: of the sentence.
        tags: that its words must have; with them, no evidence is asked.
        evidence: a tagger to listen to.
        constraints: on the tree.
        rescorer: weighs the labels of spans anew.
    """
    weights = None
    if tags is None and evidence is not None:
        tags = evidence.given(words)
        weights = evidence.weights([each.pipeline.coarse for each in pipelines], words)
    given = given_to(pipelines, merge_tags(tags, constraints, len(words)), weights, constraints)
    opening = pipelines[0].pipeline.opening(words, *given[0])
    inferred = infer_together(
        [each.pipeline.attempts(words, *given[n], opening) for n, each in enumerate(pipelines)]
    )
    found = [(number, inference) for number, inference in enumerate(inferred) if inference is not None]
    if found and rescorer is not None:
        scored = rescorer.rescore({n: each.scored for n, each in found}, words, given[0][2], opening)
        found = [(number, replace(each, scored=scored[number])) for number, each in found]
    return Found(found, tags, opening)


def last_resort(
    pipelines: Sequence[ConstrainedPipeline],
    words: Sequence[str],
    tags: Tags | None,
    constraints: Constraints | None,
) -> tuple[Tree, tuple[Constituent, ...]]:
    """The tree of a sentence for which no other was found, and its constituents; see `flat_tree`.

    Raises:
        NoTreeError: that is because of the constraints.
    """
    given = merge_tags(tags, constraints, len(words))
    if constraints is not None:
        check_possible(pipelines, words, tags, constraints)
    return flat_tree(pipelines[0], words, given, constraints)


def check_possible(
    pipelines: Sequence[ConstrainedPipeline],
    words: Sequence[str],
    tags: Tags | None,
    constraints: Constraints,
) -> None:
    """Do nothing if trees may meet the constraints.

    That is so if one does, and if the grammars have no tree for the words anyway. Of sentences that are too
    long to look at all trees it is not known, and they pass.

    Args:
        pipelines: one or more.
        words: of the sentence.
        tags: given beside the constraints.
        constraints: that no tree was found under.

    Raises:
        NoTreeError: no tree meets all; it names few that no tree meets together, if possible one.
    """

    def derives(parts: Sequence[tuple[str, Constraints]]) -> bool:
        chosen = Constraints.union(each for _, each in parts)
        return any(each.derives(words, tags, chosen) for each in pipelines)

    needed = constraints.parts()
    if len(words) > WINDOW or derives(needed) or not derives(()):
        return
    for part in list(needed):  # what can be left out while the rest is impossible is not to blame
        others = [each for each in needed if each is not part]
        if others and not derives(others):
            needed = others
    first, *rest = [name for name, _ in needed]
    together = f" together with {' and '.join(rest)}" if rest else ""
    hint = f"leave {'one of them' if rest else 'it'} out"
    raise NoTreeError(f"no tree of the model meets {first}{together}", hint=hint)


def likeliest_tags(pipeline: Pipeline, words: Sequence[str]) -> list[str]:
    """The commonest tag of each word, for trees that no grammar stands behind."""
    found = look_up(pipeline.coarse.lexicon, words, pipeline.signature)
    values = coarse_values(pipeline.coarse, found, None, any_tag=True) * pipeline.rules.prior
    return [labels_of(pipeline.coarse.symbols[tag])[-1] for tag in values.argmax(axis=1).tolist()]


def flat_tree(
    constrained: ConstrainedPipeline, words: Sequence[str], tags: Tags | None, constraints: Constraints | None
) -> tuple[Tree, tuple[Constituent, ...]]:
    """The tree of a sentence that no grammar derives: its words under TOP, and the required brackets.

    Args:
        constrained: brings the commonest tag of each word, and the commonest label of a phrase.
        words: of the sentence.
        tags: given ones.
        constraints: whose brackets the tree is to have.

    Returns:
        The tree, and its brackets as constituents.
    """
    guessed = likeliest_tags(constrained.pipeline, words)
    given = tags or [None] * len(words)
    leaves = [Tree(tag or guess, word=word) for tag, guess, word in zip(given, guessed, words, strict=True)]
    if constraints is None or not constraints.brackets:
        return Tree("TOP", leaves), ()
    labelled = _labelled(constrained, constraints)
    trees = [(token, leaf) for token, leaf in enumerate(leaves)]  # where each begins
    for label, start, end in sorted(labelled, key=lambda each: each[2] - each[1]):
        inside = [each for each in trees if start <= each[0] < end]
        place = trees.index(inside[0])
        trees[place : place + len(inside)] = [(start, Tree(label, [tree for _, tree in inside]))]
    return Tree("TOP", [tree for _, tree in trees]), tuple(Constituent(*each, 1.0) for each in labelled)


def _labelled(constrained: ConstrainedPipeline, constraints: Constraints) -> list[tuple[str, int, int]]:
    """The required brackets, parents first; without a label one has the commonest that is not forbidden."""
    prior, table = constrained.pipeline.rules.prior, constrained.table
    by_frequency = sorted(table.rows, key=lambda label: -float(prior @ table.of_bottom[table.rows[label]]))
    forbidden = {(each.label, *each.span) for each in constraints.forbidden}
    labels: dict[tuple[int, int], list[str]] = {}
    for each in constraints.brackets:
        of_span = labels.setdefault(each.span, [])
        if each.label is not None:
            of_span.append(each.label)
    return [
        (label, *span)
        for span, known in labels.items()
        for label in known or [next(each for each in by_frequency if (each, *span) not in forbidden)]
    ]
