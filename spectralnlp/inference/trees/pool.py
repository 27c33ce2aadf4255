"""Combine grammars of several binarisations (a pool) by averaging their posteriors of labelled spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.derivations import derivation_tree
from spectralnlp.inference.trees.forest_grammars import ForestGrammars
from spectralnlp.inference.trees.labels import NO_LABEL, SharedLabels
from spectralnlp.inference.trees.limits import Chains, LabelTable
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.sentence import Forests
from spectralnlp.inference.trees.spans import span_posteriors
from spectralnlp.parameters import Ints
from spectralnlp.text.constraints import Constraints
from spectralnlp.trees import Tree, restore
from spectralnlp.trees.parse import BracketPosteriors


@dataclass(frozen=True)
class Pool:
    """Averages the posteriors of labelled spans over the grammars of several binarisations.

    Attributes:
        shared: ids of the labels, and of the pairs of labels in unary rules, and for each binarisation the
            ids of its symbols and rules.
        chains: pair (top, bottom) of labels → full unary chain, for chains of three or more labels.
        chains_of_each: the same for each binarisation.
    """

    shared: SharedLabels
    chains: Chains
    chains_of_each: Sequence[Chains]

    @classmethod
    def of(cls, grammars: Sequence[ForestGrammars]) -> Pool:
        """Build a pool from the grammars of several binarisations, with an id for each label they share."""
        chains = {ends: chain for each in reversed(grammars) for ends, chain in each.chains.items()}
        shared = SharedLabels.of([each.coarse for each in grammars])
        return cls(shared, chains, [each.chains for each in grammars])

    @cached_property
    def label_table(self) -> LabelTable:
        """The phrase labels for which each shared label, and each pair of labels in a unary rule, stands."""
        return LabelTable.of_labels(self.shared, self.chains)

    def bracket_posteriors(self, forests: Mapping[int, ScoredForest], n_tokens: int) -> BracketPosteriors:
        """Return the posteriors of all brackets and tags of a sentence, averaged over all grammars.

        Collapsed unary chains are expanded, so that each label in a chain has a posterior.

        Args:
            forests: the scored forests by index of the binarisation, without binarisations that failed.
            n_tokens: length of the sentence.
        """
        names, labels = self.shared.names, self.shared.labels
        maps = [self.shared.maps[number] for number in forests]
        found = span_posteriors(list(forests.values()), maps, labels, n_tokens)
        brackets: dict[tuple[str, int, int], float] = {}
        tags: list[dict[str, float]] = [{} for _ in range(n_tokens)]
        start, end = found.start.tolist(), found.end.tolist()
        for row, label in zip(*(each.tolist() for each in np.nonzero(found.bottom)), strict=True):
            value = float(found.bottom[row, label])
            if labels.is_tag[label]:
                tags[start[row]][names[label]] = min(value, 1.0)
            else:
                _add_to(brackets, (names[label], start[row], end[row]), value)
        for row, pair in zip(*(each.tolist() for each in np.nonzero(found.unary)), strict=True):
            top, bottom = (names[label] for label in labels.pairs[pair].tolist())
            for name in self.chains.get((top, bottom), (top, bottom))[:-1]:
                _add_to(brackets, (name, start[row], end[row]), float(found.unary[row, pair]))
        return BracketPosteriors({each: min(value, 1.0) for each, value in brackets.items()}, tags)

    def decode(self, decoder: Decoder, forests: Forests) -> Tree:
        """Return the tree that a decoder chooses from a sentence's forests.

        If there are several forests (one for each binarisation), posteriors of spans are averaged. If the
        tree found in this way breaks the sentence's constraints, the tree of the first forest is returned.

        Args:
            decoder: the decoder that chooses the tree.
            forests: one or more forests; several only if the decoder's ``can_pool`` is True.
        """
        sentence, constraints = forests.sentence, forests.sentence.constraints
        if len(forests.scored) > 1:
            tree = self._of_spans(decoder, forests.scored, sentence.words, constraints)
            # Trees of one forest always meet the constraints; combinations of spans may not.
            if constraints is None or constraints.broken_by(tree.spans(), tree.tags()) is None:
                return tree
        number, scored = forests.first
        return self.tree(number, scored, decoder.decode(scored), sentence.words)

    def tree(self, number: int, scored: ScoredForest, choice: Ints, words: Sequence[str]) -> Tree:
        """Convert a decoder's choice of hyperedges to a tree in the form of the treebank (not binarised).

        Args:
            number: index of the binarisation.
            scored: the binarisation's forest.
            choice: int32 (n_nodes,); the hyperedge of each node, as a decoder returns them.
            words: the words of the sentence.
        """
        return restore(derivation_tree(scored, choice, words), self.chains_of_each[number])

    def _of_spans(
        self,
        decoder: Decoder,
        forests: Mapping[int, ScoredForest],
        words: Sequence[str],
        constraints: Constraints | None,
    ) -> Tree:
        """Return the tree that a decoder finds in the averaged posteriors of several binarisations."""
        shared, names = self.shared, self.shared.names
        maps = [shared.maps[number] for number in forests]
        limits = None if constraints is None else self.label_table.limits(constraints)
        posteriors = span_posteriors(list(forests.values()), maps, shared.labels, len(words), limits)
        finished: list[tuple[int, Tree]] = []  # (first token, subtree) without a parent so far
        for start, end, label, top in decoder.decode_pool(posteriors):
            if shared.labels.is_tag[label] and end - start == 1:
                tree = Tree(names[label], word=words[start])
            else:
                below = []
                while finished and finished[-1][0] >= start:
                    below.append(finished.pop()[1])
                tree = Tree(names[label], below[::-1])
            if top != NO_LABEL:
                chain = self.chains.get((names[top], tree.label), (names[top], tree.label))
                for name in reversed(chain[:-1]):
                    tree = Tree(name, (tree,))
            finished.append((start, tree))
        return finished[0][1]


def _add_to(sums: dict[tuple[str, int, int], float], bracket: tuple[str, int, int], value: float) -> None:
    sums[bracket] = sums.get(bracket, 0.0) + value
