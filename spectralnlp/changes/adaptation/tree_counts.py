"""Count rules, symbols and words of trees, after binarising the trees as a parser's grammars do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from spectralnlp.parameters import GrammarSet
from spectralnlp.trees import Tree
from spectralnlp.trees.binarise import tag_symbol, unary_chains

T = TypeVar("T")


@dataclass(frozen=True)
class SetCounts:
    """Counts of rules, symbols and words in trees that were binarised for one set of grammars.

    Counts are fractional if trees have weights.

    Attributes:
        rules: count of each rule, a tuple of the parent's symbol and one or two children's symbols.
        symbols: count of each symbol.
        pairs: count of each (word, tag).
        roots: number of trees with each root symbol.
    """

    rules: Counter[tuple[str, ...]] = field(default_factory=Counter)
    symbols: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, trees: Sequence[Tree], old: GrammarSet) -> SetCounts:
        """Count rules, symbols and words of trees, binarised as for the grammars ``old``."""
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

    def add(self, other: SetCounts, share: float) -> None:
        """Add the counts of other trees, each multiplied by ``share``, to these counts in place."""
        _add(self.rules, other.rules, share)
        _add(self.symbols, other.symbols, share)
        _add(self.pairs, other.pairs, share)
        _add(self.roots, other.roots, share)

    def __add__(self, other: SetCounts) -> SetCounts:
        """Return the sums of these counts and the counts of other trees."""
        return SetCounts(
            rules=self.rules + other.rules,
            symbols=self.symbols + other.symbols,
            pairs=self.pairs + other.pairs,
            roots=self.roots + other.roots,
        )

    def __sub__(self, other: SetCounts) -> SetCounts:
        """Return these counts without those of ``other``, whose trees must be among the counted trees."""
        return SetCounts(
            rules=self.rules - other.rules,
            symbols=self.symbols - other.symbols,
            pairs=self.pairs - other.pairs,
            roots=self.roots - other.roots,
        )


@dataclass(frozen=True)
class TreeCounts:
    """Counts of rules, symbols and words in trees, for each binarisation of a parser.

    Attributes:
        n_trees: number of trees; a candidate tree of a sentence adds only its probability.
        chains: count of each unary chain, a tuple of labels from the top down.
        sets: counts under each binarisation, in the order of the parser's sets of grammars.
    """

    n_trees: float
    chains: Counter[tuple[str, ...]]
    sets: tuple[SetCounts, ...]

    @classmethod
    def of(cls, trees: Sequence[Tree], sets: Sequence[GrammarSet]) -> TreeCounts:
        """Count rules, symbols and words of trees without a root ``TOP``, for each set of grammars."""
        chains = Counter(chain for tree in trees for chain in unary_chains(tree))
        return cls(len(trees), chains, tuple(SetCounts.of(trees, each) for each in sets))

    def with_parts(self, parts: Iterable[tuple[TreeCounts, float]]) -> TreeCounts:
        """Return the sum of these counts and of weighted counts of further trees.

        Args:
            parts: counts of further trees, each with the factor by which to multiply them, such as the
                probability of a candidate tree.
        """
        n_trees, chains = self.n_trees, Counter(self.chains)
        sets = [SetCounts() for _ in self.sets]
        for total, ours in zip(sets, self.sets, strict=True):
            total.add(ours, 1)
        for counts, share in parts:
            n_trees += share * counts.n_trees
            _add(chains, counts.chains, share)
            for total, theirs in zip(sets, counts.sets, strict=True):
                total.add(theirs, share)
        return TreeCounts(n_trees, chains, tuple(sets))

    def __add__(self, other: TreeCounts) -> TreeCounts:
        """Return the sums of these counts and the counts of other trees."""
        return TreeCounts(
            self.n_trees + other.n_trees,
            self.chains + other.chains,
            tuple(ours + theirs for ours, theirs in zip(self.sets, other.sets, strict=True)),
        )

    def __sub__(self, other: TreeCounts) -> TreeCounts:
        """Return these counts without those of ``other``, whose trees must be among the counted trees."""
        return TreeCounts(
            self.n_trees - other.n_trees,
            self.chains - other.chains,
            tuple(ours - theirs for ours, theirs in zip(self.sets, other.sets, strict=True)),
        )

    def restoring(self) -> dict[tuple[str, str], tuple[str, ...]]:
        """Return the most frequent unary chain for each pair of a top and a bottom label.

        Binarisation compresses a unary chain to its top and bottom label; `restore` needs these chains to
        insert the labels between them into parse trees. Chains of two labels are left out.
        """
        commonest: dict[tuple[str, str], tuple[str, ...]] = {}
        for chain in sorted(self.chains, key=lambda each: (self.chains[each], each)):
            commonest[chain[0], chain[-1]] = chain
        return {ends: chain for ends, chain in commonest.items() if len(chain) > 2}


def _add(total: Counter[T], counts: Counter[T], share: float) -> None:
    for each, count in counts.items():
        total[each] += share * count  # type: ignore[assignment]
