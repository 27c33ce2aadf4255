"""The result of parsing one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from spectralnlp.inference.trees.forest import LEXICAL, TOP
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.parameters import Ints
from spectralnlp.trees import Tree, labels_of
from spectralnlp.trees.parse import Constituent


def derivation_tree(scored: ScoredForest, choice: Ints, symbols: Sequence[str], words: Sequence[str]) -> Tree:
    """The binarised tree of a decoder's choice.

    Args:
        scored: the forest that was decoded.
        choice: int32 (n_nodes,); the chosen hyperedge of each node of the tree, -1 elsewhere.
        symbols: names of the grammar's symbols.
        words: of the sentence.
    """
    forest = scored.forest
    built: dict[int, Tree] = {}
    chosen = np.flatnonzero(choice >= 0)
    for node in chosen[::-1].tolist():  # children come after their parents in a forest
        edge = choice[node]
        label = symbols[forest.symbol[node]]
        if forest.kind[node] == LEXICAL:
            built[node] = Tree(label, word=words[forest.start[node]])
        elif forest.kind[node] == TOP and forest.rule[edge] < 0:
            built[node] = built[forest.left[edge]]
        elif forest.kind[node] == TOP:
            built[node] = Tree(label, (built[forest.left[edge]],))
        else:
            built[node] = Tree(label, (built[forest.left[edge]], built[forest.right[edge]]))
    return built[int(chosen[0])]


def bracket_posteriors(
    scored: ScoredForest, symbols: Sequence[str], tree: Tree
) -> Mapping[tuple[str, int, int], float]:
    """Posterior of each (label, start, end) over the spans of a tree, averaged over a forest's grammars.

    A bracket is there as the bottom of its span or as the top of a unary rule; both count.
    """
    forest = scored.forest
    node, edge = np.mean(scored.node_shares, axis=0), np.mean(scored.edge_shares, axis=0)
    size = int(forest.end.max()) + 1
    wanted = np.array([end * size + start for _, start, end in tree.spans()], np.int64)
    is_wanted = np.isin(forest.end.astype(np.int64) * size + forest.start, wanted)
    posteriors: dict[tuple[str, int, int], float] = {}
    for v in np.flatnonzero(is_wanted & (scored.n_brackets[forest.symbol] > 0)).tolist():
        first, last = forest.edges[v], forest.edges[v + 1]
        if forest.kind[v] == TOP:
            value = float(edge[first:last][forest.rule[first:last] >= 0].sum())
        else:
            value = float(node[v])
        if value > 0:
            labels = labels_of(symbols[forest.symbol[v]])
            for label in labels[:-1] if forest.kind[v] == LEXICAL else labels:
                key = label, int(forest.start[v]), int(forest.end[v])
                posteriors[key] = posteriors.get(key, 0.0) + value
    return posteriors


def mean_posteriors(
    parts: Sequence[Mapping[tuple[str, int, int], float]],
) -> Mapping[tuple[str, int, int], float]:
    """The mean of several forests' bracket posteriors, brackets that one lacks counting as 0 there."""
    total: dict[tuple[str, int, int], float] = {}
    for part in parts:
        for bracket, value in part.items():
            total[bracket] = total.get(bracket, 0.0) + value / len(parts)
    return total


def constituents_of(tree: Tree, posteriors: Mapping[tuple[str, int, int], float]) -> tuple[Constituent, ...]:
    """The brackets of a tree with their posteriors.

    The middle of a compressed unary chain has no posterior of its own: where the chain is, so is its middle.
    """
    spans = tree.spans()
    found: list[Constituent] = []
    for number, (label, start, end) in enumerate(spans):
        posterior = posteriors.get((label, start, end), 0.0)
        is_below = number > 0 and spans[number - 1][1:] == (start, end)
        is_above = number + 1 < len(spans) and spans[number + 1][1:] == (start, end)
        if is_below and (is_above or end - start == 1):  # over one token the bottom of a chain is its tag
            posterior = max(posterior, found[-1].posterior)
        found.append(Constituent(label, start, end, min(posterior, 1.0)))
    return tuple(found)
