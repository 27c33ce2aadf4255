"""What occurs in trees, counted by name as the grammars of a parser binarise them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from spectralnlp.parameters import GrammarSet
from spectralnlp.trees import Tree
from spectralnlp.trees.binarise import tag_symbol, unary_chains

T = TypeVar("T")


@dataclass(frozen=True)
class SetCounts:
    """What occurs in trees that a set of grammars binarised.

    Attributes:
        rules: of two or three symbols; symbols: of each; pairs: (word, tag).
        roots: of each symbol.
    """

    rules: Counter[tuple[str, ...]] = field(default_factory=Counter)
    symbols: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, trees: Sequence[Tree], old: GrammarSet) -> SetCounts:
        """Count trees as a set of grammars binarises them."""
        counts, grammar = cls(), old.coarse
        phrases = {name for name, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True) if not is_tag}
        rules: list[tuple[str, ...]] = []
        symbols: list[str] = []
        for tree in trees:
            names: list[str] = []  # of the nodes whose parent is still to come
            for node in old.binariser.binarise(tree).postorder():
                name = node.label
                if node.word is not None:
                    name = tag_symbol(name) if name in phrases else name
                    counts.pairs[node.word, name] += 1
                else:
                    first = len(names) - len(node.children)
                    rules.append((name, *names[first:]))
                    del names[first:]
                symbols.append(name)
                names.append(name)
            counts.roots[names.pop()] += 1
        counts.rules.update(rules)
        counts.symbols.update(symbols)
        return counts

    def __mul__(self, times: float) -> SetCounts:
        """Counts of so many times the trees."""
        return SetCounts(
            *(_times(each, times) for each in (self.rules, self.symbols, self.pairs, self.roots))
        )

    def __add__(self, other: SetCounts) -> SetCounts:
        """Counts of the trees of both."""
        return SetCounts(
            rules=self.rules + other.rules,
            symbols=self.symbols + other.symbols,
            pairs=self.pairs + other.pairs,
            roots=self.roots + other.roots,
        )

    def __sub__(self, other: SetCounts) -> SetCounts:
        """Counts without trees that are among them."""
        return SetCounts(
            rules=self.rules - other.rules,
            symbols=self.symbols - other.symbols,
            pairs=self.pairs - other.pairs,
            roots=self.roots - other.roots,
        )


@dataclass(frozen=True)
class TreeCounts:
    """What occurs in trees, for each set of grammars of a parser.

    Attributes:
        n_trees: how many; a part of one where several stand for a sentence.
        chains: of unary nodes, from the top down.
        sets: what each set of grammars makes of them.
    """

    n_trees: float
    chains: Counter[tuple[str, ...]]
    sets: tuple[SetCounts, ...]

    @classmethod
    def of(cls, trees: Sequence[Tree], sets: Sequence[GrammarSet]) -> TreeCounts:
        """Count trees, without their TOP."""
        chains = Counter(chain for tree in trees for chain in unary_chains(tree))
        return cls(len(trees), chains, tuple(SetCounts.of(trees, each) for each in sets))

    def __mul__(self, times: float) -> TreeCounts:
        """Counts of so many times the trees, or of a part of them."""
        sets = tuple(each * times for each in self.sets)
        return TreeCounts(self.n_trees * times, _times(self.chains, times), sets)

    def __add__(self, other: TreeCounts) -> TreeCounts:
        """Counts of the trees of both."""
        return TreeCounts(
            self.n_trees + other.n_trees,
            self.chains + other.chains,
            tuple(ours + theirs for ours, theirs in zip(self.sets, other.sets, strict=True)),
        )

    def __sub__(self, other: TreeCounts) -> TreeCounts:
        """Counts without trees that are among them."""
        return TreeCounts(
            self.n_trees - other.n_trees,
            self.chains - other.chains,
            tuple(ours - theirs for ours, theirs in zip(self.sets, other.sets, strict=True)),
        )

    def restoring(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """The commonest full unary chain of each two ends, where it has a middle; see `restore`."""
        commonest: dict[tuple[str, str], tuple[str, ...]] = {}
        for chain in sorted(self.chains, key=lambda each: (self.chains[each], each)):
            commonest[chain[0], chain[-1]] = chain
        return {ends: chain for ends, chain in commonest.items() if len(chain) > 2}


def _times(counts: Counter[T], times: float) -> Counter[T]:
    return Counter({each: count * times for each, count in counts.items()})
