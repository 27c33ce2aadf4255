"""Decoding a pool: grammars of several binarisations, whose posteriors are averaged over spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.decoders import Decoder
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.inference.trees.spans import NO_LABEL, LabelMap, SpanLabels, span_posteriors
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.trees import Tree, is_intermediate, labels_of


@dataclass(frozen=True)
class Pool:
    """The labels and unary pairs that a pool's grammars share.

    Attributes:
        names: of phrases and tags; a name that is both has two entries.
        labels: which of them are tags, and the pairs of labels of unary rules.
        maps: for each binarisation, its symbols and rules in these numbers.
        chains: the full unary chain to write for (top, bottom), where it has a middle.
    """

    names: Sequence[str]
    labels: SpanLabels
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
            SpanLabels(
                is_tag=np.array([is_tag for _, is_tag in index], bool),
                pairs=np.array(list(pair_index), np.int32).reshape(-1, 2),
            ),
            maps,
            {ends: chain for each in reversed(sets) for ends, chain in each.chains.items()},
        )

    def decode(self, decoder: Decoder, forests: Mapping[int, ScoredForest], words: Sequence[str]) -> Tree:
        """The tree that a decoder finds in the averaged posteriors of several binarisations.

        Args:
            decoder: one that can pool.
            forests: those of the binarisations that could score the sentence, by the binarisation's number.
            words: of the sentence.
        """
        maps = [self.maps[number] for number in forests]
        posteriors = span_posteriors(list(forests.values()), maps, self.labels, len(words))
        finished: list[tuple[int, Tree]] = []  # where it begins, and the tree
        for start, end, label, top in decoder.decode_pool(posteriors):
            if self.labels.is_tag[label] and end - start == 1:
                tree = Tree(self.names[label], word=words[start])
            else:
                below = []
                while finished and finished[-1][0] >= start:
                    below.append(finished.pop()[1])
                tree = Tree(self.names[label], below[::-1])
            if top != NO_LABEL:
                chain = self.chains.get((self.names[top], tree.label), (self.names[top], tree.label))
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
        return NO_LABEL
    return index.setdefault((labels_of(name)[-1], bool(grammar.is_tag[symbol])), len(index))
