"""Collect the training data of PCFGs: counts of rules, words, roots and unary chains."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.ambiguous_labels import AmbiguousLabel, ambiguous_labels_in_counts
from spectralnlp.runtime import Counts, Key
from spectralnlp.trees import (
    Binariser,
    Tree,
    ambiguous_labels,
    check_tree,
    plain_symbol,
    split_annotation,
    tag_symbol,
    unary_chains,
)
from spectralnlp.trees.treelog import TreeTable

BINARY, UNARY, ROOT, WORD, CHAIN = "binary", "unary", "root", "word", "chain"
EventCounts = Mapping[tuple[str, ...], Any]  # counts are integers, or floats if trees have weights


@dataclass(frozen=True, kw_only=True)
class RuleEvents:
    """Counts of rules, words, roots and unary chains (events) in binarised trees, sorted by key.

    Attributes:
        binary: counts of binary rules, with keys (a, b, c).
        unary: counts of unary rules, with keys (a, b).
        root: counts of root symbols, with keys (a,).
        word: counts of words, with keys (tag, word, "1" if sentence-initial else "0").
        chain: counts of unary chains, with keys (top, …, bottom).
    """

    binary: EventCounts
    unary: EventCounts
    root: EventCounts
    word: EventCounts
    chain: EventCounts

    @classmethod
    def of_table(cls, table: TreeTable) -> RuleEvents:
        """Count rules, words and roots in a table of trees, weighted by tree; unary chains are left out."""
        names, weight = table.symbols, table.weight[table.tree]

        def count(rows: NDArray[np.int64], *columns: NDArray[np.int32]) -> dict[tuple[int, ...], float]:
            keys, which = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
            counts = np.bincount(which.reshape(-1), weight[rows], len(keys))
            return dict(zip(map(tuple, keys.tolist()), counts.tolist(), strict=True))

        def count_symbols(rows: NDArray[np.int64], *children: NDArray[np.int32]) -> EventCounts:
            counted = count(rows, *(table.symbol[each[rows]] for each in children))
            return {tuple(names[symbol] for symbol in key): number for key, number in counted.items()}

        nodes = np.arange(table.n_nodes, dtype=np.int32)
        leaves = np.flatnonzero(table.word >= 0)
        initial = np.ones(len(leaves), np.int32)
        initial[1:] = table.tree[leaves][1:] != table.tree[leaves][:-1]
        words = count(leaves, table.symbol[leaves], table.word[leaves], initial)
        return cls(
            binary=count_symbols(np.flatnonzero(table.right >= 0), nodes, table.left, table.right),
            unary=count_symbols(np.flatnonzero((table.left >= 0) & (table.right < 0)), nodes, table.left),
            root=count_symbols(np.flatnonzero(table.parent < 0), nodes),
            word={(names[t], table.words[w], str(first)): n for (t, w, first), n in words.items()},
            chain={},
        )

    def word_counts(self) -> dict[str, int]:
        """Return the frequency of each word."""
        counts: dict[str, int] = defaultdict(int)
        for (_, word, _), count in self.word.items():
            counts[word] += count
        return counts

    def labels(self) -> Iterator[str]:
        """Yield all labels of the counted rules, words and roots, with repetitions."""
        for counts in (self.binary, self.unary, self.root):
            for symbols in counts:
                yield from symbols
        for tag, _, _ in self.word:
            yield tag

    def with_plain_tags(self) -> RuleEvents:
        """Return counts in which tags are marked (see `tag_symbol`) only if they are also phrase labels."""
        tags = {tag for tag, _, _ in self.word}
        phrases = {key[0] for counts in (self.binary, self.unary) for key in counts}
        ambiguous = ambiguous_labels(phrases, map(plain_symbol, tags))
        plain = {tag: plain_symbol(tag) for tag in tags}
        plain = {tag: name for tag, name in plain.items() if split_annotation(name)[0] not in ambiguous}

        def renamed(counts: EventCounts, n_symbols: int) -> EventCounts:
            names = {(*(plain.get(s, s) for s in key[:n_symbols]), *key[n_symbols:]): key for key in counts}
            return {name: counts[names[name]] for name in sorted(names)}

        return RuleEvents(
            binary=renamed(self.binary, 3),
            unary=renamed(self.unary, 2),
            root=renamed(self.root, 1),
            word=renamed(self.word, 1),
            chain=self.chain,
        )

    def ambiguous_labels(self) -> Iterator[AmbiguousLabel]:
        """Yield the labels that are used both as tags and as phrase labels."""
        words: Counter[tuple[str, str]] = Counter()
        for (tag, word, _), count in self.word.items():
            words[tag, word] += count
        phrases: Counter[str] = Counter()
        for counts in (self.binary, self.unary):
            for symbols, count in counts.items():
                phrases[symbols[0]] += count
        return ambiguous_labels_in_counts(words, phrases)


class RuleCounts(Counts[Tree]):
    """Integer counts of rules, words, roots and unary chains of a treebank; adding and subtracting are exact.

    Keys are ``(binary, a, b, c)``, ``(unary, a, b)``, ``(root, a)``, ``(word, tag, word, "1" if
    sentence-initial else "0")`` and ``(chain, top, …, bottom)`` over the symbols of the binarised tree;
    symbols of preterminals are marked by `tag_symbol`.

    Args:
        binariser: settings of the binarisation, as ``Binariser.to_dict`` returns them.

    Examples:
        >>> from spectralnlp import PCFG, read_treebank
        >>> from spectralnlp.runtime import accumulate
        >>> trees = read_treebank("corpora/treebank/dev.mrg")
        >>> accumulate(PCFG().init_moments(trees), trees).total() > 0
        True
    """

    def __init__(self, binariser: Mapping[str, object]) -> None:
        super().__init__()
        self.binariser = Binariser.from_dict(binariser)

    def parameters(self) -> dict[str, object]:
        """Return the settings of the binarisation; only counts with equal settings can be added."""
        return {"binariser": self.binariser.to_dict()}

    def events(self, example: Tree) -> Iterator[Key]:
        """Yield a key for the root, each rule, each tagged word and each unary chain of a tree.

        Args:
            example: a tree without traces and function tags.
        """
        tree = self.binariser.binarise(check_tree(example))
        yield ROOT, _symbol(tree)
        is_first = True
        for node in tree.postorder():
            if node.word is not None:
                yield WORD, _symbol(node), node.word, "1" if is_first else "0"
                is_first = False
            elif len(node.children) == 2:
                yield BINARY, node.label, _symbol(node.children[0]), _symbol(node.children[1])
            else:
                yield UNARY, node.label, _symbol(node.children[0])
        if self.binariser.unaries == "compress":
            for chain in unary_chains(example):
                yield CHAIN, *chain

    def is_key(self, key: Key) -> bool:
        """Whether a key is valid: it starts with a kind of event (``binary``, …), and has all its parts."""
        sizes = {BINARY: 4, UNARY: 3, ROOT: 2, WORD: 4}
        if not isinstance(key, tuple) or not key:
            return False
        return len(key) >= 3 if key[0] == CHAIN else len(key) == sizes.get(key[0])

    def events_by_kind(self) -> RuleEvents:
        """Return separate counts of rules, words, roots and unary chains, whose keys omit the kind.

        Tags that are not also phrase labels lose the mark of `tag_symbol`.
        """
        kinds: dict[str, dict[tuple[str, ...], int]] = {
            kind: {} for kind in (BINARY, UNARY, ROOT, WORD, CHAIN)
        }
        for key, count in self.items():
            kinds[key[0]][tuple(key[1:])] = count
        return RuleEvents(**kinds).with_plain_tags()


def _symbol(node: Tree) -> str:
    """Return a node's label, marked by `tag_symbol` if the node is a preterminal."""
    return tag_symbol(node.label) if node.word is not None else node.label
