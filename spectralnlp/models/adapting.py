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
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.models.adapted_lexicon import LexiconRows
from spectralnlp.models.parser import Parser
from spectralnlp.parameters import (
    DenseTensors,
    Floats,
    GrammarSet,
    Ints,
    LatentGrammar,
    SparseTensors,
)
from spectralnlp.parameters.arrays import offsets_of
from spectralnlp.trees import Tree, strip_root
from spectralnlp.trees.binarise import tag_symbol, unary_chains

_LEAST_WEIGHT, _MOST_WEIGHT = 1.0, 7.5


def adapted(parser: Parser, trees: Iterable[Tree], weight: float | None = None) -> Parser:
    """Return a parser whose counts have those of more trees added to them.

    Args:
        parser: of grammars whose states are counted (clusters).
        trees: cleaned ones.
        weight: how often each counts; None for the root of how many times as many the parser's own are, from
            1 to 7.5.

    Raises:
        ConfigError: a grammar of the parser has no counts: it is of tensors, or of one state for each rule.
        InputError: there are no trees.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.models.adapting import adapted
        >>> from spectralnlp.trees import read_brackets
        >>> trees = read_brackets(["(HEADING (NP (NNS Methods)))"] * 9)
        >>> parser = adapted(spectralnlp.load("en"), trees)
        >>> print(parser.parse_tokens(["Results"]).tree)
        (TOP (HEADING (NP (NNS Results))))
    """
    own = [strip_root(tree) for tree in trees]
    if not own:
        raise InputError("no trees to adapt to")
    n_general = float(parser.about.get("training trees", 0)) or 1000.0
    if weight is None:
        weight = min(max(sqrt(n_general / len(own)), _LEAST_WEIGHT), _MOST_WEIGHT)
    sets = []
    for each in parser.grammar_sets:
        for grammar in each.grammars:
            if grammar.is_signed or isinstance(grammar.binary, SparseTensors):
                hint = "adapt it with the treebank that it was trained on, or train with grammars=clusters"
                raise ConfigError("the parser's grammars hold no counts", hint=hint)
        sets.append(_Merger(each, own, n_general, weight).merged())
    about = {**parser.about, "adapted to trees": len(own)}
    line = f"**Adapted** to {len(own):,} more trees, which count {weight:.1f} times each."
    card = f"{parser.card.rstrip()}\n\n{line}\n"
    return replace(parser, grammar_sets=tuple(sets), about=about, card=card)


@dataclass(frozen=True)
class _Counts:
    """What occurs in binarised trees, by name.

    Attributes:
        rules: of two or three symbols; symbols: of each; pairs: (word, tag).
        roots: of each symbol.
    """

    rules: Counter[tuple[str, ...]] = field(default_factory=Counter)
    symbols: Counter[str] = field(default_factory=Counter)
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    roots: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(cls, trees: Sequence[Tree], old: GrammarSet) -> _Counts:
        """Count trees as a set of grammars binarises them."""
        counts, grammar = cls(), old.coarse
        phrases = {name for name, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True) if not is_tag}
        for tree in trees:
            binary = old.binariser.binarise(tree)
            names: list[str] = []  # of the nodes whose parent is still to come
            for node in binary.postorder():
                name = node.label
                if node.word is not None:
                    name = tag_symbol(name) if name in phrases else name
                    counts.pairs[node.word, name] += 1
                else:
                    below = [names.pop() for _ in node.children][::-1]
                    counts.rules[name, *below] += 1
                counts.symbols[name] += 1
                names.append(name)
            counts.roots[names.pop()] += 1
        return counts


class _Merger:
    """Adds the counts of trees to those of a set of grammars.

    Args:
        old: the grammars.
        trees: to add.
        n_general: trees that the grammars were learned from.
        weight: how often each tree to add counts.
    """

    def __init__(self, old: GrammarSet, trees: Sequence[Tree], n_general: float, weight: float) -> None:
        self.old, self.n_general, self.weight, self.n_own = old, n_general, weight, len(trees)
        self.own = _Counts.of(trees, old)
        coarse = old.coarse
        new = sorted(set(self.own.symbols) - set(coarse.symbols))
        self.symbols = (*coarse.symbols, *new)
        self.number = {name: index for index, name in enumerate(self.symbols)}
        tags = {tag for _, tag in self.own.pairs}
        self.is_tag = np.append(coarse.is_tag, np.array([name in tags for name in new], bool))
        self.chains = {**_new_chains(trees), **old.chains}
        counted = n_general * np.append(_expected_states(coarse), np.zeros(len(new)))
        more = np.array([self.own.symbols[name] for name in self.symbols], np.float64)
        self.counted, self.total = counted, counted + weight * more
        self.rules = {len(name): self._rules(len(name)) for name in (("", ""), ("", "", ""))}
        words: dict[str, dict[int, int]] = defaultdict(dict)
        for (word, tag), count in self.own.pairs.items():
            words[word][self.number[tag]] = count
        of_tags = (np.where(self.is_tag, each, 0.0) for each in (self.counted, self.total))
        self.lexicon = LexiconRows.merged(coarse.lexicon, words, weight, *of_tags)

    def merged(self) -> GrammarSet:
        """The grammars with all counts."""
        old, pruner = self.old, self.old.pruner
        return replace(
            old,
            chains=self.chains,
            coarse=self._grammar(old.coarse),
            pruner=None if pruner is None else self._grammar(pruner),
            grammars=tuple(self._grammar(each) for each in old.grammars),
        )

    def _rules(self, order: int) -> list[tuple[tuple[int, ...], int, float]]:
        """Rules of so many symbols, in order: symbols, the old rule or -1, and what its tensor is scaled by.

        The factor of a new rule is its probability.
        """
        coarse = self.old.coarse
        rules, tensors = (
            (coarse.unary_rules, coarse.unary) if order == 2 else (coarse.binary_rules, coarse.binary)
        )
        own = {
            tuple(self.number[name] for name in names): count
            for names, count in self.own.rules.items()
            if len(names) == order
        }
        found = []
        for old, (symbols, p) in enumerate(
            zip(map(tuple, rules.tolist()), tensors.values.tolist(), strict=True)
        ):
            p_new = (self.counted[symbols[0]] * p + self.weight * own.pop(symbols, 0)) / self.total[
                symbols[0]
            ]
            found.append((symbols, old, p_new / p if p else 0.0))
        found += [
            (symbols, -1, self.weight * count / self.total[symbols[0]]) for symbols, count in own.items()
        ]
        return sorted(found)

    def _grammar(self, old: LatentGrammar) -> LatentGrammar:
        n_new = len(self.symbols) - len(old.symbols)
        n_states = np.append(old.n_states, np.ones(n_new, np.int32)).astype(np.int32)
        offsets = offsets_of(n_states)
        states = np.append(_expected_states(old), np.ones(n_new))
        share = [_shares(states[a:b]) for a, b in pairwise(offsets.tolist())]
        binary_rules, binary = self._tensors(
            3, old.n_states[old.binary_rules], old.binary.values, n_states, share
        )
        unary_rules, unary = self._tensors(
            2, old.n_states[old.unary_rules], old.unary.values, n_states, share
        )
        own_roots = [self.own.roots[name] * part for name, part in zip(self.symbols, share, strict=True)]
        root = self.n_general * np.append(old.root, np.zeros(n_new)) + self.weight * np.concatenate(own_roots)
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
            root=root / (self.n_general + self.weight * self.n_own),
            tag_default=tag_default,
            lexicon=self.lexicon.of_grammar(old.lexicon, n_states, tag_default),
        )

    def _tensors(
        self,
        order: int,
        shapes: NDArray[np.int32],
        values: NDArray[np.floating],
        n_states: Ints,
        share: Sequence[Floats],
    ) -> tuple[Ints, DenseTensors]:
        """The rules of so many symbols, and their tensors in a grammar."""
        places = offsets_of(shapes.prod(axis=1, dtype=np.int64))
        parts = [np.empty(0)]
        for symbols, old, factor in self.rules[order]:
            if old >= 0:
                parts.append(factor * values[places[old] : places[old + 1]].astype(np.float64))
                continue
            below = (
                share[symbols[1]] if order == 2 else np.outer(share[symbols[1]], share[symbols[2]]).ravel()
            )
            parts.append(np.tile(factor * below, n_states[symbols[0]]))
        rules = np.array([symbols for symbols, _, _ in self.rules[order]], np.int32).reshape(-1, order)
        return rules, DenseTensors(
            offsets=offsets_of(np.array([len(p) for p in parts[1:]])), values=np.concatenate(parts)
        )


def _new_chains(trees: Sequence[Tree]) -> dict[tuple[str, str], tuple[str, ...]]:
    """The commonest full unary chain of each two ends, where it has a middle."""
    counts = Counter(chain for tree in trees for chain in unary_chains(tree))
    commonest: dict[tuple[str, str], tuple[str, ...]] = {}
    for chain in sorted(counts, key=lambda each: (counts[each], each)):
        commonest[chain[0], chain[-1]] = chain
    return {ends: chain for ends, chain in commonest.items() if len(chain) > 2}


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
