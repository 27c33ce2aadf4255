"""The result of parsing one sentence."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.forest import LEXICAL, TOP
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel
from spectralnlp.parameters import Ints
from spectralnlp.trees import Tree, labels_of
from spectralnlp.trees.parse import Constituent


def derivation_tree(scored: ScoredForest, choice: Ints, words: Sequence[str]) -> Tree:
    """The binarised tree of a decoder's choice.

    Args:
        scored: the forest that was decoded.
        choice: int32 (n_nodes,); the chosen hyperedge of each node of the tree, -1 elsewhere.
        words: of the sentence.
    """
    forest, symbols = scored.forest, scored.grammars[0].symbols
    built: dict[int, Tree] = {}
    chosen = np.flatnonzero(choice >= 0)[::-1]  # children come after their parents in a forest
    edges = choice[chosen]
    columns = (
        chosen,
        forest.kind[chosen],
        forest.symbol[chosen],
        forest.start[chosen],
        forest.rule[edges],
        forest.left[edges],
        forest.right[edges],
    )
    for node, kind, symbol, start, rule, left, right in zip(*(c.tolist() for c in columns), strict=True):
        if kind == LEXICAL:
            built[node] = Tree(symbols[symbol], word=words[start])
        elif kind != TOP:
            built[node] = Tree(symbols[symbol], (built[left], built[right]))
        else:
            built[node] = built[left] if rule < 0 else Tree(symbols[symbol], (built[left],))
    return built[int(chosen[-1])]


def constituents_of(tree: Tree, forests: Collection[ScoredForest]) -> tuple[Constituent, ...]:
    """The brackets of a tree with their posteriors, averaged over forests; what one lacks counts as 0 there.

    The middle of a compressed unary chain has no posterior of its own: where the chain is, so is its middle.

    Args:
        tree: of the sentence.
        forests: one or more.
    """
    spans = tree.spans()
    size = len(tree.words()) + 1
    wanted = np.array(sorted({end * size + start for _, start, end in spans}), np.int64)
    posteriors: dict[tuple[str, int, int], float] = {}
    for scored in forests:
        for bracket, value in _bracket_posteriors(scored, wanted, size):
            posteriors[bracket] = posteriors.get(bracket, 0.0) + value / len(forests)
    found: list[Constituent] = []
    for number, (label, start, end) in enumerate(spans):
        posterior = posteriors.get((label, start, end), 0.0)
        is_below = number > 0 and spans[number - 1][1:] == (start, end)
        is_above = number + 1 < len(spans) and spans[number + 1][1:] == (start, end)
        if is_below and (is_above or end - start == 1):  # over one token the bottom of a chain is its tag
            posterior = max(posterior, found[-1].posterior)
        found.append(Constituent(label, start, end, min(posterior, 1.0)))
    return tuple(found)


def _bracket_posteriors(
    scored: ScoredForest, wanted: NDArray[np.int64], size: int
) -> Iterator[tuple[tuple[str, int, int], float]]:
    """Posteriors of each (label, start, end) over the wanted spans, to be added up, averaged over grammars.

    A bracket is there as the bottom of its span or as the top of a unary rule; both count.
    """
    forest, symbols = scored.forest, scored.grammars[0].symbols
    nodes, values = _bracket_values(
        forest, scored.n_brackets, scored.mean_node, scored.mean_edge, wanted, size
    )
    columns = (forest.kind[nodes], forest.symbol[nodes], forest.start[nodes], forest.end[nodes], values)
    for kind, symbol, start, end, value in zip(*(column.tolist() for column in columns), strict=True):
        labels = labels_of(symbols[symbol])
        for label in labels[:-1] if kind == LEXICAL else labels:
            yield (label, start, end), value


@kernel
def _bracket_values(forest, n_brackets, node, edge, wanted, size):
    """Nodes that are brackets over the wanted spans, by their codes, and their posteriors where above 0."""
    nodes, values, count = np.empty(len(node), np.int32), np.empty(len(node)), 0
    for v in range(len(node)):
        if n_brackets[forest.symbol[v]] == 0:
            continue
        code, low, high = forest.end[v] * size + forest.start[v], 0, len(wanted)
        while low < high:
            middle = (low + high) // 2
            if wanted[middle] < code:
                low = middle + 1
            else:
                high = middle
        if low == len(wanted) or wanted[low] != code:
            continue
        value = node[v]
        if forest.kind[v] == TOP:
            value = 0.0
            for e in range(forest.edges[v], forest.edges[v + 1]):
                if forest.rule[e] >= 0:
                    value += edge[e]
        if value > 0.0:
            nodes[count], values[count] = v, value
            count += 1
    return nodes[:count], values[:count]
