"""Read the counts that grammars were estimated from off the grammars, and add the counts of further trees.

This works for grammars whose latent states are clusters, because their parameters were estimated from counts.
The expected frequency of each symbol in a tree follows from the probabilities of the grammar; multiplied by
the number of training trees, it gives these counts. The counts of the new trees are multiplied by a weight
and added (count merging, Bacchiani et al. 2006). The tensor of a known rule is rescaled to the rule's new
probability; its distribution over states does not change. In a new rule, the states of each child follow the
child's mean distribution over states. A new symbol has a single state.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from spectralnlp.estimators.parser.lexicon_counts import LexiconCounts
from spectralnlp.estimators.pcfg.moments import CHAIN, ROOT, WORD, RuleCounts
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, SparseTensors, Tensors
from spectralnlp.runtime import InMemoryCorpus, Joint, accumulate, offsets_of
from spectralnlp.trees import Tree, plain_symbol, split_annotation

# Counts of trees, binarised for each set of grammars, and how many times they count.
Times = tuple[Joint[Tree], float]


def has_counted_states(sets: Iterable[GrammarSet]) -> bool:
    """Return whether the counts of all grammars can be read off them: their states are clusters of nodes.

    The result is False if a grammar was estimated as tensors, or if its states are annotations of symbols
    (``pcfg``).
    """
    grammars = (grammar for each in sets for grammar in each.grammars)
    return not any(each.is_signed or isinstance(each.binary, SparseTensors) for each in grammars)


class GrammarCounts:
    """Counts that the grammars of a parser were estimated from, to which those of further trees can be added.

    Args:
        sets: grammars with counted states; see `has_counted_states`.
        n_trees: number of trees from which they were learned.
    """

    def __init__(self, sets: Sequence[GrammarSet], n_trees: float) -> None:
        self._sets = [_SetCounts(each, n_trees) for each in sets]

    def count(self, trees: Iterable[Tree]) -> Joint[Tree]:
        """Count the rules, words and unary chains of trees, binarised as for each set of grammars.

        Args:
            trees: trees without root ``TOP``, traces and function tags.
        """
        empty = (RuleCounts(each.grammars.binariser.to_dict()) for each in self._sets)
        counts: Joint[Tree] = Joint({str(number): each for number, each in enumerate(empty)})
        return accumulate(counts, InMemoryCorpus(list(trees)))

    def plus(self, added: Sequence[Times], weight: float) -> tuple[GrammarSet, ...]:
        """Return the grammars estimated from the sum of their counts and weighted counts of further trees.

        Args:
            added: counts of further trees, from `count`, each with a factor, such as the probability of a
                candidate tree, or -1 to take counts away.
            weight: how many times each of these trees counts.
        """
        return tuple(
            _Sum(each, _AddedCounts.of(added, str(number), each.grammars.coarse), weight).grammars()
            for number, each in enumerate(self._sets)
        )


class _SetCounts:
    """Counts read off one set of grammars.

    Attributes:
        grammars: the grammars.
        n_trees: number of trees from which they were learned.
        states: for each grammar, the expected occurrences of each latent state in a tree; see
            `_expected_states`.
        symbols: float64 (n_symbols,); occurrences of each symbol in the trees.
        lexicon: counts of the words in the lexicon of the coarse grammar, which has one state per symbol.
    """

    def __init__(self, grammars: GrammarSet, n_trees: float) -> None:
        self.grammars, self.n_trees = grammars, n_trees
        self.states = {each: _expected_states(each) for each in _all(grammars)}
        self.symbols = n_trees * self.states[grammars.coarse]
        tags = np.where(grammars.coarse.is_tag, self.symbols, 0.0)
        self.lexicon = LexiconCounts(grammars.coarse.lexicon, tags)


@dataclass(frozen=True)
class _AddedCounts:
    """Counts of rules, symbols and words in further trees, by the names of symbols in a grammar.

    Attributes:
        rules: count of each rule, a tuple of the parent's symbol and one or two children's symbols.
        symbols: count of each symbol.
        words: count of each word with each tag.
        roots: number of trees with each root symbol.
        chains: count of each unary chain, a tuple of labels from the top down.
    """

    rules: Counter[tuple[str, ...]]
    symbols: Counter[str]
    words: dict[str, Counter[str]]
    roots: Counter[str]
    chains: Counter[tuple[str, ...]]

    @classmethod
    def of(cls, added: Sequence[Times], name: str, grammar: LatentGrammar) -> _AddedCounts:
        """Sum counts, and name tags as in a grammar, where only those are marked that are also phrases.

        Args:
            added: counts with their factors.
            name: name of the counts of the grammar's binarisation.
            grammar: the coarse grammar of this binarisation.
        """
        phrases = {
            split_annotation(each)[0]
            for each, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
            if not is_tag
        }
        total: Counter[tuple[str, ...]] = Counter()
        for counts, times in added:
            part = counts.parts[name]
            assert isinstance(part, RuleCounts)
            for key, n in part.items():
                total[tuple(key)] += times * n  # type: ignore[assignment]

        def named(symbol: str) -> str:
            plain = plain_symbol(symbol)
            return symbol if split_annotation(plain)[0] in phrases else plain

        sums = cls(Counter(), Counter(), defaultdict(Counter), Counter(), Counter())
        for (kind, *names), n in total.items():
            if n <= 0:  # all trees that have it are taken away
                continue
            if kind == CHAIN:
                sums.chains[tuple(names)] += n
                continue
            symbol = named(names[0])
            if kind == ROOT:
                sums.roots[symbol] += n
                continue
            sums.symbols[symbol] += n
            if kind == WORD:
                sums.words[names[1]][symbol] += n
            else:
                sums.rules[symbol, *map(named, names[1:])] += n
        return sums


class _Sum:
    """Estimator of grammars from the sum of the counts read off them and weighted counts of further trees.

    Args:
        general: grammars with their counts.
        added: counts of the further trees.
        weight: how many times each of these trees counts.
    """

    def __init__(self, general: _SetCounts, added: _AddedCounts, weight: float) -> None:
        self.general, self.added, self.weight = general, added, weight
        coarse = general.grammars.coarse
        new = sorted(set(added.symbols) - set(coarse.symbols))
        self.symbols = (*coarse.symbols, *new)
        self.number = {name: index for index, name in enumerate(self.symbols)}
        tags = {tag for counts in added.words.values() for tag in counts}
        self.is_tag = np.append(coarse.is_tag, np.array([name in tags for name in new], bool))
        self.counted = np.append(general.symbols, np.zeros(len(new)))
        more = np.array([added.symbols[name] for name in self.symbols], np.float64)
        self.total = self.counted + weight * more
        self.rules = {2: self._rules(2), 3: self._rules(3)}
        words = {
            word: {self.number[tag]: count for tag, count in sorted(tags.items())}
            for word, tags in sorted(added.words.items())
        }
        self.lexicon = general.lexicon.merged(words, weight, np.where(self.is_tag, self.total, 0.0))

    def grammars(self) -> GrammarSet:
        """Return the grammars estimated from the sum of counts."""
        old = self.general.grammars
        coarse, *others = map(self._grammar, _all(old))
        return replace(
            old,
            chains={**commonest_chains(self.added.chains), **old.chains},
            coarse=coarse,
            pruner=None if old.pruner is None else others.pop(0),
            grammars=tuple(others),
        )

    def _rules(self, order: int) -> list[tuple[tuple[int, ...], int, float]]:
        """Return the unary (order 2) or binary (order 3) rules of the merged grammar, sorted by symbols.

        Returns:
            For each rule: its symbols; its index in the general grammar, or -1 for a new rule; and the factor
            by which its probability changes or, for a new rule, its probability.
        """
        coarse = self.general.grammars.coarse
        rules, tensors = (
            (coarse.unary_rules, coarse.unary) if order == 2 else (coarse.binary_rules, coarse.binary)
        )
        added = {
            tuple(self.number[name] for name in names): count
            for names, count in self.added.rules.items()
            if len(names) == order
        }
        counted, total = self.counted.tolist(), self.total.tolist()
        found = []
        for old, (symbols, p) in enumerate(
            zip(map(tuple, rules.tolist()), tensors.values.tolist(), strict=True)
        ):
            top = symbols[0]
            p_new = (counted[top] * p + self.weight * added.pop(symbols, 0)) / total[top]
            found.append((symbols, old, p_new / p if p else 0.0))
        found += [(symbols, -1, self.weight * count / total[symbols[0]]) for symbols, count in added.items()]
        return sorted(found)

    def _grammar(self, old: LatentGrammar) -> LatentGrammar:
        n_new = len(self.symbols) - len(old.symbols)
        n_states = np.append(old.n_states, np.ones(n_new, np.int32)).astype(np.int32)
        offsets = offsets_of(n_states)
        states = np.append(self.general.states[old], np.ones(n_new))
        share = [_shares(states[a:b]) for a, b in pairwise(offsets.tolist())]
        binary_rules, binary = self._tensors(3, old.binary, n_states, share)
        unary_rules, unary = self._tensors(2, old.unary, n_states, share)
        roots = [self.added.roots[name] * part for name, part in zip(self.symbols, share, strict=True)]
        n_trees = self.general.n_trees
        root = n_trees * np.append(old.root, np.zeros(n_new)) + self.weight * np.concatenate(roots)
        is_new_tag = self.is_tag[len(old.symbols) :].astype(np.float64)
        tag_default = np.append(old.tag_default, is_new_tag)
        return LatentGrammar(
            symbols=self.symbols,
            is_tag=self.is_tag,
            n_states=n_states,
            binary_rules=binary_rules,
            binary=binary,
            unary_rules=unary_rules,
            unary=unary,
            root=root / (n_trees + self.weight * self.added.roots.total()),
            tag_default=tag_default,
            lexicon=self.lexicon.of_grammar(old.lexicon, n_states, tag_default),
        )

    def _tensors(
        self, order: int, old: Tensors, n_states: Ints, share: Sequence[Floats]
    ) -> tuple[Ints, Tensors]:
        """Return the unary (order 2) or binary (order 3) rules of one merged grammar, and their tensors.

        Args:
            order: number of symbols of a rule.
            old: tensors of these rules in the general grammar.
            n_states: int32 (n_symbols,); number of states of each symbol.
            share: for each symbol, a distribution over its states, float64 (n_states of the symbol,); used as
                the distribution of a child in new rules.
        """
        assert not isinstance(old, SparseTensors)
        rules = np.array([symbols for symbols, _, _ in self.rules[order]], np.int32).reshape(-1, order)
        factors = np.array([factor if at >= 0 else np.nan for _, at, factor in self.rules[order]])
        new = []
        for symbols, at, p in self.rules[order]:
            if at < 0:
                below = share[symbols[1]]
                below = below if order == 2 else np.outer(below, share[symbols[2]]).ravel()
                new.append(np.tile(p * below, n_states[symbols[0]]))
        return rules, old.extended(factors, n_states[rules], new)


def _all(grammars: GrammarSet) -> list[LatentGrammar]:
    """Return the coarse grammar of a set, its pruner if there is one, and the other grammars."""
    return [each for each in (grammars.coarse, grammars.pruner, *grammars.grammars) if each is not None]


def _shares(counts: Floats) -> Floats:
    total = counts.sum()
    return counts / total if total > 0 else np.full(len(counts), 1.0 / len(counts))


def _expected_states(grammar: LatentGrammar) -> Floats:
    """Return the expected occurrences of each latent state in a tree, float64 (sum of n_states,).

    The expected occurrences e solve the linear system e = root + Mᵀe, where M[a, b] is the expected number
    of children in state b of a node in state a, and root holds the root probabilities of the states.
    """
    at = grammar.state_offsets
    moves = np.zeros((at[-1], at[-1]))
    for rules, tensors in ((grammar.binary_rules, grammar.binary), (grammar.unary_rules, grammar.unary)):
        shapes = grammar.n_states[rules]
        places, values = offsets_of(shapes.prod(axis=1, dtype=np.int64)), tensors.values
        for rule, (symbols, shape) in enumerate(zip(rules.tolist(), shapes.tolist(), strict=True)):
            tensor = values[places[rule] : places[rule + 1]].reshape(shape)
            a = slice(at[symbols[0]], at[symbols[0] + 1])
            for axis, child in enumerate(symbols[1:], 1):
                others = tuple(each for each in range(1, len(shape)) if each != axis)
                moves[a, at[child] : at[child + 1]] += tensor.sum(axis=others)
    expected = np.linalg.solve(np.eye(at[-1]) - moves.T, grammar.root.astype(np.float64))
    return np.maximum(expected, 0.0).astype(np.float64)
