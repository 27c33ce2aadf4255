"""Convert a decoder's choice of hyperedges to a tree, and compute the posteriors of its brackets."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np

from spectralnlp.inference.trees.forest import LEXICAL, TOP
from spectralnlp.inference.trees.scored_forest import ScoredForest
from spectralnlp.jit import kernel
from spectralnlp.parameters import Ints, LatentGrammar, Offsets
from spectralnlp.runtime import offsets_of
from spectralnlp.trees import Tree, labels_of
from spectralnlp.trees.parse import Constituent


def derivation_tree(scored: ScoredForest, choice: Ints, words: Sequence[str]) -> Tree:
    """Return the binarised tree that a decoder has chosen from a forest.

    Args:
        scored: the forest that was decoded.
        choice: int32 (n_nodes,); the chosen hyperedge of each node of the tree, -1 elsewhere.
        words: the words of the sentence.
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
    """Return the brackets of a tree with their posteriors, averaged over forests.

    A bracket that is not in a forest has the posterior 0 there. The inner labels of a compressed unary chain
    are not in the forest; they get at least the posterior of the label above them.

    Args:
        tree: a tree of the sentence, with its unary chains restored.
        forests: one or more scored forests of the sentence.
    """
    means = [(scored, scored.mean_node, scored.mean_edge) for scored in forests]
    spans, size = tree.spans(), len(tree.words()) + 1
    posteriors = np.zeros(len(spans))
    for scored, node, edge in means:
        numbers, first, labels = _bracket_labels(scored.grammars[0])
        keys = np.array(
            [
                (end * size + start) * (len(numbers) + 1) + numbers.get(label, len(numbers))
                for label, start, end in spans
            ]
        )
        order = keys.argsort()
        sums = _bracket_sums(
            scored.forest,
            first,
            labels,
            len(numbers) + 1,
            node,
            edge,
            keys[order],
            size,
        )
        posteriors[order] += sums / len(forests)
    found: list[Constituent] = []
    for number, ((label, start, end), posterior) in enumerate(zip(spans, posteriors.tolist(), strict=True)):
        is_below = number > 0 and spans[number - 1][1:] == (start, end)
        is_above = number + 1 < len(spans) and spans[number + 1][1:] == (start, end)
        if is_below and (is_above or end - start == 1):  # the bottom of a chain over one token is its tag
            posterior = max(posterior, found[-1].posterior)
        found.append(Constituent(label, start, end, min(posterior, 1.0)))
    return tuple(found)


@lru_cache(maxsize=64)
def _bracket_labels(grammar: LatentGrammar) -> tuple[Mapping[str, int], Offsets, Ints]:
    """Return ids of the labels of a grammar's symbols.

    Returns:
        The id of each label; and ``first`` and ``numbers``: symbol s has the labels
        ``numbers[first[s]:first[s + 1]]``.
    """
    labels = [labels_of(symbol) for symbol in grammar.symbols]
    index = {label: number for number, label in enumerate(dict.fromkeys(chain.from_iterable(labels)))}
    numbers = np.array([index[label] for label in chain.from_iterable(labels)], np.int32)
    return index, offsets_of(np.array([len(each) for each in labels])), numbers


@kernel
def _bracket_sums(forest, first, labels, n_labels, node, edge, wanted, size):
    """Return the posteriors of given brackets, float64 (n_wanted,).

    A bracket is given by an integer key, (end · size + start) · n_labels + label. It can occur as a bottom
    node of the forest or as the parent of a unary rule; its posterior is the sum over both.

    Args:
        forest: `Forest`.
        first, labels: label ids of each symbol, as `_bracket_labels` returns them.
        n_labels: number of labels.
        node, edge: float64; posteriors of nodes and hyperedges.
        wanted: int64 (n_wanted,), ascending; keys of the brackets.
        size: number of tokens plus 1.
    """
    kind, symbol, start, end, edges = forest.kind, forest.symbol, forest.start, forest.end, forest.edges
    sums = np.zeros(len(wanted))
    for v in range(len(node)):
        value = node[v]
        if kind[v] == TOP:
            value = 0.0
            for e in range(edges[v], edges[v + 1]):
                if forest.rule[e] >= 0:
                    value += edge[e]
        if value <= 0.0:
            continue
        # The last label of a symbol over a token is its tag, which is no bracket.
        for place in range(first[symbol[v]], first[symbol[v] + 1] - (kind[v] == LEXICAL)):
            key = (end[v] * size + start[v]) * n_labels + labels[place]
            low, high = 0, len(wanted)
            while low < high:
                middle = (low + high) // 2
                if wanted[middle] < key:
                    low = middle + 1
                else:
                    high = middle
            while low < len(wanted) and wanted[low] == key:
                sums[low] += value
                low += 1
    return sums
