"""Adapt a parser to a few trees in seconds, from its grammars alone, without its training treebank.

This works for grammars whose latent states are clusters, because their parameters were estimated from counts.
The expected frequency of each symbol in a tree follows from the probabilities of the grammar; multiplied by
the number of training trees, it gives these counts. The counts of the new trees are multiplied by a weight
and added (count merging, Bacchiani et al. 2006). The tensor of a known rule is rescaled to the rule's new
probability; its distribution over states does not change. In a new rule, the states of each child follow the
child's mean distribution over states. A new symbol has a single state. Components of the parser, such as the
span scorer, are not changed here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import sqrt

import numpy as np

from spectralnlp.changes.adaptation.lexicon_counts import LexiconCounts
from spectralnlp.changes.adaptation.tree_counts import SetCounts, TreeCounts
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, SparseTensors, Tensors
from spectralnlp.runtime import offsets_of
from spectralnlp.trees import Tree, strip_root

_MAX_WEIGHT = 1_000_000
# Bounds of the default weight: with a larger one, grammars overfit the few trees.
MIN_WEIGHT, MAX_WEIGHT = 1.0, 7.5


def check_weight(weight: float) -> None:
    """Check that the weight of a domain tree is positive and not too large.

    Raises:
        ConfigError: the weight is not positive, or is above a million.
    """
    if not 0 < weight <= _MAX_WEIGHT:
        raise ConfigError(f"a weight must be above 0 and at most {_MAX_WEIGHT:,}, not {weight:g}")


def default_weight(n_general: float, n_domain: float) -> float:
    """Return the default weight of a domain tree, √(n_general / n_domain), limited to the range 1 to 7.5.

    Args:
        n_general: number of trees of the general treebank.
        n_domain: number of trees of the domain, at least 1.
    """
    return min(max(sqrt(n_general / n_domain), MIN_WEIGHT), MAX_WEIGHT)


def add_tree_counts(parser: Parser, trees: Iterable[Tree], weight: float | None = None) -> Parser:
    """Return a copy of a parser with the counts of further trees added to its grammars.

    Args:
        parser: a parser whose grammars have counted states (clusters).
        trees: trees of the domain, without traces and function tags (`spectralnlp.trees.clean`).
        weight: how many times each tree counts; None for `default_weight`.

    Raises:
        ConfigError: a grammar has no counted states, because it was estimated as tensors, or because its
            states are annotations of symbols (``pcfg``).
        InputError: there are no trees.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.changes.adaptation.adapter import add_tree_counts
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(HEADING (NP (NNS Methods)))"] * 9)
        >>> parser = add_tree_counts(spectralnlp.load("en"), trees)
        >>> print(parser.parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """
    adapter = Adapter(parser)
    return adapter.adapt(adapter.count(trees), weight)


class Adapter:
    """Adapts a parser to trees of a domain; each call of `adapt` returns a new copy of the parser.

    The training counts of the parser are computed only once, even if `adapt` is called for several domains.

    Args:
        parser: a parser whose grammars have counted states.

    Raises:
        ConfigError: a grammar of the parser has no counted states.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.changes import Adapter
        >>> from spectralnlp.trees import read_brackets
        >>> adapter = Adapter(spectralnlp.load("en"))
        >>> domain = adapter.count(read_brackets(["(HEADING (NP (NNS Methods)))"] * 9))
        >>> print(adapter.adapt(domain, weight=2.0).parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """

    def __init__(self, parser: Parser) -> None:
        if not has_counted_states(parser):
            hint = "adapt it with the treebank that it was trained on, or train lpcfg with grammars=clusters"
            raise ConfigError("the parser's grammars hold no counts", hint=hint)
        self.parser = parser
        self.n_general = float(parser.about.get("training trees", 0)) or 1000.0
        self._sets = [_General(each, self.n_general) for each in parser.grammar_sets]
        self._last: Counter[Tree] = Counter()
        self._counts = self.count([])

    def count(self, trees: Iterable[Tree]) -> TreeCounts:
        """Count the rules, words and symbols of trees, binarised as for the parser's grammars.

        Args:
            trees: trees without traces and function tags.
        """
        return TreeCounts.of([strip_root(tree) for tree in trees], self.parser.grammar_sets)

    def recount(self, trees: Iterable[Tree]) -> TreeCounts:
        """Return the same counts as `count`, but faster if most trees are those of the last call.

        Only the trees that have been added or removed since the last call are binarised.

        Args:
            trees: trees without traces and function tags.
        """
        wanted = Counter(trees)
        new, gone = wanted - self._last, self._last - wanted
        if gone.total() > wanted.total() - new.total():
            self._counts = self.count(wanted.elements())
        else:
            self._counts += self.count(new.elements())
            self._counts -= self.count(gone.elements())
        self._last = wanted
        return self._counts

    def adapt(self, domain: TreeCounts, weight: float | None = None) -> Parser:
        """Return a copy of the parser with the counts of domain trees added to its grammars.

        Args:
            domain: counts of the trees of the domain, from `count` or `recount`.
            weight: how many times each tree counts; None for `default_weight`.

        Raises:
            InputError: ``domain`` was counted from an empty list of trees.
        """
        if not domain.n_trees:
            raise InputError("no trees to adapt to")
        weight = default_weight(self.n_general, domain.n_trees) if weight is None else weight
        check_weight(weight)
        restoring = domain.restoring()
        sets = []
        for general, counts in zip(self._sets, domain.sets, strict=True):
            merged = _Merger(general, counts, domain.n_trees, weight).merged()
            sets.append(replace(merged, chains={**restoring, **general.grammars.chains}))
        about = {**self.parser.about, "adapted to trees": round(domain.n_trees)}
        line = f"**Adapted** to {round(domain.n_trees):,} more trees, which count {weight:.1f} times each."
        card = f"{self.parser.card.rstrip()}\n\n{line}\n"
        return replace(self.parser, grammar_sets=tuple(sets), about=about, card=card)


def has_counted_states(parser: Parser) -> bool:
    """Return whether a parser can be adapted without its treebank: all its grammars have counted states.

    Counted states are clusters of tree nodes. The result is False if a grammar was estimated as tensors, or
    if its states are annotations of symbols (``pcfg``).
    """
    grammars = (grammar for each in parser.grammar_sets for grammar in each.grammars)
    return not any(each.is_signed or isinstance(each.binary, SparseTensors) for each in grammars)


@dataclass(frozen=True)
class _GeneralGrammar:
    """Grammar of the parser to adapt, with the expected frequencies of its latent states.

    Args:
        grammar: a grammar whose parameters were estimated from counts of its states.
    """

    grammar: LatentGrammar

    @cached_property
    def states(self) -> Floats:
        """Expected occurrences of each latent state in a tree of the grammar, float64 (sum of n_states,)."""
        return _expected_states(self.grammar)


class _General:
    """One set of grammars of the parser to adapt, with the training counts of the grammars' symbols.

    Args:
        grammars: the grammars.
        n_trees: number of trees from which they were learned.
    """

    def __init__(self, grammars: GrammarSet, n_trees: float) -> None:
        self.grammars, self.n_trees = grammars, n_trees
        self.coarse = _GeneralGrammar(grammars.coarse)
        self.pruner = None if grammars.pruner is None else _GeneralGrammar(grammars.pruner)
        self.latent = tuple(map(_GeneralGrammar, grammars.grammars))
        self.counted = n_trees * self.coarse.states  # of each symbol

    @cached_property
    def lexicon(self) -> LexiconCounts:
        """Counts of the words in the lexicon of the coarse grammar, which has one state per symbol."""
        is_tag = self.grammars.coarse.is_tag
        return LexiconCounts(self.grammars.coarse.lexicon, np.where(is_tag, self.counted, 0.0))


class _Merger:
    """Estimator of grammars from the sum of a parser's training counts and weighted counts of new trees.

    Args:
        general: grammars of the general parser, with their counts.
        domain: counts of the new trees.
        n_domain: number of new trees.
        weight: how many times each new tree counts.
    """

    def __init__(self, general: _General, domain: SetCounts, n_domain: float, weight: float) -> None:
        self.general, self.domain, self.weight, self.n_domain = general, domain, weight, n_domain
        coarse = general.grammars.coarse
        new = sorted(set(domain.symbols) - set(coarse.symbols))
        self.symbols = (*coarse.symbols, *new)
        self.number = {name: index for index, name in enumerate(self.symbols)}
        tags = {tag for _, tag in domain.pairs}
        self.is_tag = np.append(coarse.is_tag, np.array([name in tags for name in new], bool))
        self.counted = np.append(general.counted, np.zeros(len(new)))
        more = np.array([domain.symbols[name] for name in self.symbols], np.float64)
        self.total = self.counted + weight * more
        self.rules = {len(name): self._rules(len(name)) for name in (("", ""), ("", "", ""))}
        words: dict[str, dict[int, float]] = defaultdict(dict)
        for (word, tag), count in sorted(domain.pairs.items()):  # sums of floats, whatever the trees' order
            words[word][self.number[tag]] = count
        self.lexicon = general.lexicon.merged(words, weight, np.where(self.is_tag, self.total, 0.0))

    def merged(self) -> GrammarSet:
        """Return the grammars estimated from the merged counts."""
        pruner = self.general.pruner
        return replace(
            self.general.grammars,
            coarse=self._grammar(self.general.coarse),
            pruner=None if pruner is None else self._grammar(pruner),
            grammars=tuple(map(self._grammar, self.general.latent)),
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
        domain = {
            tuple(self.number[name] for name in names): count
            for names, count in self.domain.rules.items()
            if len(names) == order
        }
        counted, total = self.counted.tolist(), self.total.tolist()
        found = []
        for old, (symbols, p) in enumerate(
            zip(map(tuple, rules.tolist()), tensors.values.tolist(), strict=True)
        ):
            top = symbols[0]
            p_new = (counted[top] * p + self.weight * domain.pop(symbols, 0)) / total[top]
            found.append((symbols, old, p_new / p if p else 0.0))
        found += [(symbols, -1, self.weight * count / total[symbols[0]]) for symbols, count in domain.items()]
        return sorted(found)

    def _grammar(self, general: _GeneralGrammar) -> LatentGrammar:
        old = general.grammar
        n_new = len(self.symbols) - len(old.symbols)
        n_states = np.append(old.n_states, np.ones(n_new, np.int32)).astype(np.int32)
        offsets = offsets_of(n_states)
        states = np.append(general.states, np.ones(n_new))
        share = [_shares(states[a:b]) for a, b in pairwise(offsets.tolist())]
        binary_rules, binary = self._tensors(3, old.binary, n_states, share)
        unary_rules, unary = self._tensors(2, old.unary, n_states, share)
        domain_roots = [
            self.domain.roots[name] * part for name, part in zip(self.symbols, share, strict=True)
        ]
        n_general = self.general.n_trees
        root = n_general * np.append(old.root, np.zeros(n_new)) + self.weight * np.concatenate(domain_roots)
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
            root=root / (n_general + self.weight * self.n_domain),
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
