"""Decoding a pool: grammars of several binarisations, whose evidence meets in spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.decoders import Evidence
from spectralnlp.inference.trees.spans import LabelMap, decode_spans, span_posteriors
from spectralnlp.parameters import GrammarSet, Ints, LatentGrammar
from spectralnlp.trees import Tree, is_intermediate, labels_of


@dataclass(frozen=True)
class Pool:
    """The labels and unary pairs that a pool's grammars share.

    Attributes:
        labels: names of phrases and tags; a name that is both has two entries.
        is_tag: bool (n_labels,).
        pairs: int32 (n_pairs, 2); top and bottom label of unary rules.
        maps: for each binarisation, its symbols and rules in these numbers.
        chains: the full unary chain to write for (top, bottom), where it has a middle.
    """

    labels: Sequence[str]
    is_tag: NDArray[np.bool_]
    pairs: Ints
    maps: Sequence[LabelMap]
    chains: Mapping[tuple[str, str], Sequence[str]]

    @classmethod
    def of(cls, sets: Sequence[GrammarSet]) -> Pool:
        """Number the labels of all grammars."""
        index: dict[tuple[str, bool], int] = {}
        pair_index: dict[tuple[int, int], int] = {}
        maps = []
        for each in sets:
            bottom = np.array(
                [_number(index, each.coarse, s) for s in range(len(each.coarse.symbols))], np.int32
            )
            ends = bottom[each.coarse.unary_rules].reshape(-1, 2).tolist()
            unary = [pair_index.setdefault((top, below), len(pair_index)) for top, below in ends]
            maps.append(LabelMap(bottom, np.array(unary, np.int32)))
        return cls(
            [name for name, _ in index],
            np.array([is_tag for _, is_tag in index], bool),
            np.array(list(pair_index), np.int32).reshape(-1, 2),
            maps,
            {ends: chain for each in reversed(sets) for ends, chain in each.chains.items()},
        )

    def decode(
        self,
        evidence: Sequence[Evidence],
        maps: Sequence[LabelMap],
        words: Sequence[str],
        *,
        gamma: float,
        tag_weight: float,
    ) -> Tree:
        """The tree of largest expected gain; see :func:`~spectralnlp.inference.trees.spans.decode_spans`.

        Args:
            evidence: of the binarisations that could score the sentence.
            maps: theirs.
            words: of the sentence.
            gamma: price of a bracket.
            tag_weight: what a right tag counts beside a right bracket.
        """
        posteriors = span_posteriors(evidence, maps, len(words), len(self.labels), len(self.pairs))
        spans = decode_spans(posteriors, self.pairs, self.is_tag, gamma=gamma, tag_weight=tag_weight)
        finished: list[tuple[int, Tree]] = []  # where it begins, and the tree
        for start, end, label, top in spans:
            if self.is_tag[label] and end - start == 1:
                tree = Tree(self.labels[label], word=words[start])
            else:
                below = []
                while finished and finished[-1][0] >= start:
                    below.append(finished.pop()[1])
                tree = Tree(self.labels[label], below[::-1])
            if top >= 0:
                chain = self.chains.get((self.labels[top], tree.label), (self.labels[top], tree.label))
                for name in reversed(chain[:-1]):
                    tree = Tree(name, (tree,))
            finished.append((start, tree))
        return finished[0][1]


def check_labels(sets: Sequence[GrammarSet]) -> None:
    """Do nothing if all have the same labels, and so can be a pool.

    Raises:
        ConfigError: they differ; names a label that one has and another has not.
    """
    first, *others = (_labels(each.coarse) for each in sets)
    for number, labels in enumerate(others, start=2):
        if labels != first:
            name, is_tag = min(labels ^ first)
            where = "the first alone" if (name, is_tag) in first else f"number {number} alone"
            what = (
                f"grammars of a pool differ in labels: {where} has the {'tag' if is_tag else 'phrase'} {name}"
            )
            raise ConfigError(what, hint="train them on the same trees")


def _labels(grammar: LatentGrammar) -> set[tuple[str, bool]]:
    return {
        (labels_of(name)[-1], bool(is_tag))
        for name, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
        if not is_intermediate(name)
    }


def _number(index: dict[tuple[str, bool], int], grammar: LatentGrammar, symbol: int) -> int:
    name = grammar.symbols[symbol]
    if is_intermediate(name):
        return -1
    return index.setdefault((labels_of(name)[-1], bool(grammar.is_tag[symbol])), len(index))
