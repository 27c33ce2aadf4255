"""A trained parser adapted to a few trees, from its grammars alone: without the treebank, in seconds.

What a grammar of counted states was learned from can be read off it: how often each symbol occurs in a tree
follows from its probabilities, and so do counts, for the number of trees is known. To these the counts of the
new trees are added, each as often as wanted (count merging, Bacchiani et al. 2006). A rule's tensor is scaled
by what that does to its probability; states stay as they are. Rules that are new get the mean states of their
children, symbols that are new one state. The span scorer, the model of open cells and that of sentence ends
stay as they are.
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
from spectralnlp.parameters.arrays import offsets_of
from spectralnlp.trees import Tree, strip_root

_MOST_WEIGHT = 1_000_000
# Bounds of the usual weight: repeated too often, a few trees teach what is particular to them.
LEAST_WEIGHT, MOST_WEIGHT = 1.0, 7.5


def check_weight(weight: float) -> None:
    """Refuse a number of times that a tree cannot count.

    Raises:
        ConfigError: it is not above 0, or above a million.
    """
    if not 0 < weight <= _MOST_WEIGHT:
        raise ConfigError(f"a weight must be above 0 and at most {_MOST_WEIGHT:,}, not {weight:g}")


def usual_weight(n_general: float, n_own: float) -> float:
    """Return the root of how many times as many the general trees are, from 1 to 7.5.

    Args:
        n_general: number of the general trees.
        n_own: number of those of the domain, one or more.
    """
    return min(max(sqrt(n_general / n_own), LEAST_WEIGHT), MOST_WEIGHT)


def adapted(parser: Parser, trees: Iterable[Tree], weight: float | None = None) -> Parser:
    """Return a parser whose counts have those of more trees added to them.

    Args:
        parser: of grammars whose states are counted (clusters).
        trees: cleaned ones.
        weight: how often each counts; None for `usual_weight`.

    Raises:
        ConfigError: a grammar of the parser has no counts: it is of tensors, or of one state for each rule.
        InputError: there are no trees.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.changes.adaptation.adapter import adapted
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(HEADING (NP (NNS Methods)))"] * 9)
        >>> parser = adapted(spectralnlp.load("en"), trees)
        >>> print(parser.parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """
    adapter = Adapter(parser)
    return adapter.adapted(adapter.count(trees), weight)


class Adapter:
    """The counts of a parser, read off its grammars once, and those of trees that are added to them.

    Args:
        parser: as of `adapted`.

    Raises:
        ConfigError: a grammar of the parser has no counts.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.changes import Adapter
        >>> from spectralnlp.trees import read_brackets
        >>> adapter = Adapter(spectralnlp.load("en"))
        >>> own = adapter.count(read_brackets(["(HEADING (NP (NNS Methods)))"] * 9))
        >>> print(adapter.adapted(own, weight=2.0).parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """

    def __init__(self, parser: Parser) -> None:
        if not holds_counts(parser):
            hint = "adapt it with the treebank that it was trained on, or train with grammars=clusters"
            raise ConfigError("the parser's grammars hold no counts", hint=hint)
        self.parser = parser
        self.n_general = float(parser.about.get("training trees", 0)) or 1000.0
        self._sets = [_General(each, self.n_general) for each in parser.grammar_sets]
        self._last: Counter[Tree] = Counter()
        self._counts = self.count([])

    def count(self, trees: Iterable[Tree]) -> TreeCounts:
        """Count cleaned trees as the parser's grammars binarise them."""
        return TreeCounts.of([strip_root(tree) for tree in trees], self.parser.grammar_sets)

    def recount(self, trees: Iterable[Tree]) -> TreeCounts:
        """Count cleaned trees, most of which were among those of the last call: these are not looked at."""
        wanted = Counter(trees)
        new, gone = wanted - self._last, self._last - wanted
        if gone.total() > wanted.total() - new.total():
            self._counts = self.count(wanted.elements())
        else:
            self._counts += self.count(new.elements())
            self._counts -= self.count(gone.elements())
        self._last = wanted
        return self._counts

    def adapted(self, own: TreeCounts, weight: float | None = None) -> Parser:
        """Return a parser whose counts have those of trees added to them; see the function `adapted`.

        Raises:
            InputError: there are no trees.
        """
        if not own.n_trees:
            raise InputError("no trees to adapt to")
        weight = usual_weight(self.n_general, own.n_trees) if weight is None else weight
        check_weight(weight)
        restoring = own.restoring()
        sets = []
        for general, counts in zip(self._sets, own.sets, strict=True):
            merged = _Merger(general, counts, own.n_trees, weight).merged()
            sets.append(replace(merged, chains={**restoring, **general.grammars.chains}))
        about = {**self.parser.about, "adapted to trees": round(own.n_trees)}
        line = f"**Adapted** to {round(own.n_trees):,} more trees, which count {weight:.1f} times each."
        card = f"{self.parser.card.rstrip()}\n\n{line}\n"
        return replace(self.parser, grammar_sets=tuple(sets), about=about, card=card)


def holds_counts(parser: Parser) -> bool:
    """Whether a parser can be adapted from its grammars alone: all have counted states."""
    grammars = (grammar for each in parser.grammar_sets for grammar in each.grammars)
    return not any(each.is_signed or isinstance(each.binary, SparseTensors) for each in grammars)


@dataclass(frozen=True)
class _GeneralGrammar:
    """A grammar, and what is read off it.

    Args:
        grammar: of counted states.
    """

    grammar: LatentGrammar

    @cached_property
    def states(self) -> Floats:
        """float64 (sum of n_states,): how often each state occurs in a tree."""
        return _expected_states(self.grammar)


class _General:
    """A set of grammars, and its counts.

    Args:
        grammars: the set.
        n_trees: that they were learned from.
    """

    def __init__(self, grammars: GrammarSet, n_trees: float) -> None:
        self.grammars, self.n_trees = grammars, n_trees
        self.coarse = _GeneralGrammar(grammars.coarse)
        self.pruner = None if grammars.pruner is None else _GeneralGrammar(grammars.pruner)
        self.latent = tuple(map(_GeneralGrammar, grammars.grammars))
        self.counted = n_trees * self.coarse.states  # of each symbol

    @cached_property
    def lexicon(self) -> LexiconCounts:
        """The words."""
        is_tag = self.grammars.coarse.is_tag
        return LexiconCounts(self.grammars.coarse.lexicon, np.where(is_tag, self.counted, 0.0))


class _Merger:
    """Adds the counts of trees to those of a set of grammars.

    Args:
        general: the grammars.
        own: what occurs in the trees to add.
        n_own: how many these are.
        weight: how often each of them counts.
    """

    def __init__(self, general: _General, own: SetCounts, n_own: float, weight: float) -> None:
        self.general, self.own, self.weight, self.n_own = general, own, weight, n_own
        coarse = general.grammars.coarse
        new = sorted(set(own.symbols) - set(coarse.symbols))
        self.symbols = (*coarse.symbols, *new)
        self.number = {name: index for index, name in enumerate(self.symbols)}
        tags = {tag for _, tag in own.pairs}
        self.is_tag = np.append(coarse.is_tag, np.array([name in tags for name in new], bool))
        self.counted = np.append(general.counted, np.zeros(len(new)))
        more = np.array([own.symbols[name] for name in self.symbols], np.float64)
        self.total = self.counted + weight * more
        self.rules = {len(name): self._rules(len(name)) for name in (("", ""), ("", "", ""))}
        words: dict[str, dict[int, float]] = defaultdict(dict)
        for (word, tag), count in sorted(own.pairs.items()):  # sums of floats, whatever the trees' order
            words[word][self.number[tag]] = count
        self.lexicon = general.lexicon.merged(words, weight, np.where(self.is_tag, self.total, 0.0))

    def merged(self) -> GrammarSet:
        """The grammars with all counts."""
        pruner = self.general.pruner
        return replace(
            self.general.grammars,
            coarse=self._grammar(self.general.coarse),
            pruner=None if pruner is None else self._grammar(pruner),
            grammars=tuple(map(self._grammar, self.general.latent)),
        )

    def _rules(self, order: int) -> list[tuple[tuple[int, ...], int, float]]:
        """Rules of so many symbols, in order: symbols, the old rule or -1, and what its tensor is scaled by.

        The factor of a new rule is its probability.
        """
        coarse = self.general.grammars.coarse
        rules, tensors = (
            (coarse.unary_rules, coarse.unary) if order == 2 else (coarse.binary_rules, coarse.binary)
        )
        own = {
            tuple(self.number[name] for name in names): count
            for names, count in self.own.rules.items()
            if len(names) == order
        }
        counted, total = self.counted.tolist(), self.total.tolist()
        found = []
        for old, (symbols, p) in enumerate(
            zip(map(tuple, rules.tolist()), tensors.values.tolist(), strict=True)
        ):
            top = symbols[0]
            p_new = (counted[top] * p + self.weight * own.pop(symbols, 0)) / total[top]
            found.append((symbols, old, p_new / p if p else 0.0))
        found += [(symbols, -1, self.weight * count / total[symbols[0]]) for symbols, count in own.items()]
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
        own_roots = [self.own.roots[name] * part for name, part in zip(self.symbols, share, strict=True)]
        n_general = self.general.n_trees
        root = n_general * np.append(old.root, np.zeros(n_new)) + self.weight * np.concatenate(own_roots)
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
            root=root / (n_general + self.weight * self.n_own),
            tag_default=tag_default,
            lexicon=self.lexicon.of_grammar(old.lexicon, n_states, tag_default),
        )

    def _tensors(
        self, order: int, old: Tensors, n_states: Ints, share: Sequence[Floats]
    ) -> tuple[Ints, Tensors]:
        """The rules of so many symbols, and their tensors in a grammar."""
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
    """float64 (sum of n_states,): how often each state of each symbol occurs in a tree of a grammar."""
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
