"""Estimate PCFGs from counts: relative frequencies of rules, given a symbol and its annotation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from spectralnlp.estimators.pcfg.moments import EventCounts, RuleEvents
from spectralnlp.estimators.shared.grammars import RuleTensors, latent_grammar
from spectralnlp.estimators.shared.lexicon import LexiconMaker, LexiconOptions, TokenCounts
from spectralnlp.parameters import DenseTensors, Floats, Ints, LatentGrammar, Offsets, SparseTensors
from spectralnlp.runtime import offsets_of
from spectralnlp.trees import split_annotation


def is_annotated(events: RuleEvents) -> bool:
    """Whether any symbol is annotated with its parent or siblings."""
    return any(split_annotation(label)[1] for label in events.labels())


def without_annotation(events: RuleEvents) -> RuleEvents:
    """Return the counts of the same trees without parent and sibling annotation of symbols."""
    words: dict[tuple[str, ...], int] = defaultdict(int)
    for (tag, word, initial), count in events.word.items():
        words[split_annotation(tag)[0], word, initial] += count
    return replace(
        events,
        binary=_bare(events.binary),
        unary=_bare(events.unary),
        root=_bare(events.root),
        word=words,
    )


def _bare(counts: EventCounts) -> EventCounts:
    merged: dict[tuple[str, ...], int] = defaultdict(int)
    for symbols, count in counts.items():
        merged[tuple(split_annotation(symbol)[0] for symbol in symbols)] += count
    return merged


@dataclass(frozen=True)
class _States:
    """Mapping from labels with parent and sibling annotation to plain symbols and their states.

    Attributes:
        symbols: symbols without annotation, sorted.
        place: for each annotated label, the index of its symbol and its state.
        n_states: int32 (n_symbols,); number of states of each symbol.
    """

    symbols: tuple[str, ...]
    place: Mapping[str, tuple[int, int]]
    n_states: Ints

    @classmethod
    def of(cls, labels: Iterable[str]) -> _States:
        by_symbol: dict[str, set[str]] = defaultdict(set)
        for label in labels:
            by_symbol[split_annotation(label)[0]].add(label)
        symbols = tuple(sorted(by_symbol))
        place = {
            label: (index, state)
            for index, symbol in enumerate(symbols)
            for state, label in enumerate(sorted(by_symbol[symbol]))
        }
        return cls(symbols, place, np.array([len(by_symbol[symbol]) for symbol in symbols], np.int32))

    @property
    def offsets(self) -> Offsets:
        """Index of each symbol's first state among all states, and n_states.sum(), int64 (n_symbols + 1,)."""
        return offsets_of(self.n_states)

    def total(self, events: RuleEvents) -> Floats:
        """Return how often each state is on the left-hand side of a rule, float64 (sum of n_states,)."""
        offsets = self.offsets
        total = np.zeros(offsets[-1])
        for counts in (events.binary, events.unary, events.word):
            for symbols, count in counts.items():
                symbol, state = self.place[symbols[0]]
                total[offsets[symbol] + state] += count
        return total


def solve_pcfg(events: RuleEvents, lexicon_options: LexiconOptions) -> LatentGrammar:
    """Estimate a grammar by the relative frequencies of rules, given the symbol and its annotation.

    Args:
        events: counts of rules and words.
        lexicon_options: spelling classes and smoothing of the lexicon.
    """
    states = _States.of(events.labels())
    total = states.total(events)
    binary_rules, binary = _rule_tensors(events.binary, states, total, 3)
    unary_rules, unary = _rule_tensors(events.unary, states, total, 2)
    rules = RuleTensors(binary_rules=binary_rules, binary=binary, unary_rules=unary_rules, unary=unary)
    tokens, z = _token_moments(events.word, states)
    lexicons, root = LexiconMaker(tokens, lexicon_options), _root_shares(events.root, states)
    return latent_grammar(states.symbols, states.n_states, rules, root, lexicons, z)


def _root_shares(counts: EventCounts, states: _States) -> Floats:
    """Return the fraction of trees whose root has each state, float64 (sum of n_states,)."""
    offsets, n_trees = states.offsets, sum(counts.values())
    root = np.zeros(offsets[-1])
    for (label,), count in counts.items():
        symbol, state = states.place[label]
        root[offsets[symbol] + state] = count / n_trees
    return root


def _rule_tensors(
    counts: EventCounts, states: _States, total: Floats, order: int
) -> tuple[Ints, DenseTensors | SparseTensors]:
    offsets = states.offsets
    rows = []
    for symbols, count in counts.items():
        placed = [states.place[symbol] for symbol in symbols]
        denominator = total[offsets[placed[0][0]] + placed[0][1]]
        rows.append((*(p[0] for p in placed), *(p[1] for p in placed), count / denominator))
    rows.sort()
    table = np.array(rows, dtype=np.float64).reshape(-1, 2 * order + 1)
    rules, starts = np.unique(table[:, :order].astype(np.int32), axis=0, return_index=True)
    bounds = np.append(starts, len(table)).astype(np.int64)
    values = table[:, -1].copy()
    if (states.n_states == 1).all():
        return rules.reshape(-1, order), DenseTensors(offsets=bounds, values=values)
    return rules.reshape(-1, order), SparseTensors(
        offsets=bounds, states=table[:, order:-1].astype(np.int32), values=values
    )


def _token_moments(counts: EventCounts, states: _States) -> tuple[TokenCounts, Floats]:
    """Return the counts of (word, tag) pairs, and the sum of the vectors Z over each pair's tokens.

    A token's vector Z has the value 1 / p(state | tag) at the token's state, and zeros elsewhere.

    Returns:
        The counts, and the sums, float64 (n_pairs, m_max), m_max being the largest number of states.
    """
    words = sorted({word for _, word, _ in counts})
    index = {word: i for i, word in enumerate(words)}
    rows: dict[tuple[int, int], np.ndarray] = {}
    m_max = max(int(states.n_states[states.place[tag][0]]) for tag, _, _ in counts)
    by_state = np.zeros((len(states.symbols), m_max))
    for (tag, word, initial), count in counts.items():
        symbol, state = states.place[tag]
        row = rows.setdefault((index[word], symbol), np.zeros(m_max + 1))
        row[state] += count
        row[-1] += count if initial == "1" else 0
        by_state[symbol, state] += count
    keys = np.array(sorted(rows), dtype=np.int32).reshape(-1, 2)
    table = np.array([rows[word, tag] for word, tag in keys.tolist()])
    p_state = by_state / np.maximum(by_state.sum(1, keepdims=True), 1)
    tokens = TokenCounts(words, keys[:, 0], keys[:, 1], table[:, :-1].sum(1), initial=table[:, -1])
    return tokens, table[:, :-1] / np.where(p_state > 0, p_state, 1.0)[keys[:, 1]]
