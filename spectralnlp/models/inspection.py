"""Report the most probable words and rules of each latent state of a grammar."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.inference.trees.tree_scores import tensor
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.trees import plain_symbol

N_BEST = 10


@dataclass(frozen=True)
class StateReport:
    """The most probable words and rules of one latent state of a symbol.

    Attributes:
        index: index of the state, from 0.
        words: up to ten pairs (word, p(word | tag, state)), the largest first; signatures (classes of unknown
            words) are in angle brackets.
        rules: up to ten pairs (rule, p(rule | symbol, state)), the largest first. Only positive values are
            listed. In a spectral grammar, whose states are known only up to an invertible map, the values of
            words and rules are weights, not probabilities.
    """

    index: int
    words: list[tuple[str, float]]
    rules: list[tuple[str, float]]

    __repr__ = one_line


@dataclass(frozen=True)
class SymbolReport:
    """The latent states of one symbol of a grammar.

    Attributes:
        symbol: name of the symbol, without annotation.
        n_states: number of states.
        states: a report for each state.
        singular_values: of the features of the symbol's nodes, descending; empty if they are not known.
    """

    symbol: str
    n_states: int
    states: list[StateReport]
    singular_values: tuple[float, ...] = ()

    __repr__ = one_line


def inspect_grammar(grammars: GrammarSet, symbol: str | None) -> list[SymbolReport]:
    """Return a report on the latent states of each symbol of the first grammar of a set.

    Args:
        grammars: any set of grammars.
        symbol: the only symbol to report on; None for all symbols.

    Raises:
        ConfigError: the grammar has no such symbol.
    """
    grammar = grammars.grammars[0]
    if symbol is not None and symbol not in map(plain_symbol, grammar.symbols):
        known = " ".join(grammar.symbols)
        raise ConfigError(f"the grammar has no symbol {symbol!r}", hint=f"it has {known}")
    values = grammars.singular_values
    names = [name for name in grammar.symbols if symbol in (None, plain_symbol(name))]
    return [_report(grammar, name, values.get(name, ())) for name in names]


def _report(grammar: LatentGrammar, name: str, singular_values: tuple[float, ...]) -> SymbolReport:
    symbol = grammar.symbol_index[name]
    m = int(grammar.n_states[symbol])
    words, word_scores = _words(grammar, symbol, m)
    rules, rule_scores = _rules(grammar, symbol, m)
    states = [
        StateReport(h, _strongest(words, word_scores[:, h]), _strongest(rules, rule_scores[:, h]))
        for h in range(m)
    ]
    return SymbolReport(
        name if plain_symbol(name) == name else f"{plain_symbol(name)} (over a word)",
        m,
        states,
        singular_values,
    )


def _strongest(names: list[str], scores: np.ndarray) -> list[tuple[str, float]]:
    order = np.argsort(-scores, kind="stable")[:N_BEST]
    return [(names[i], float(scores[i])) for i in order if scores[i] > 0]


def _words(grammar: LatentGrammar, tag: int, m: int) -> tuple[list[str], np.ndarray]:
    lexicon = grammar.lexicon
    rows = np.flatnonzero(lexicon.tags == tag)
    entries = np.searchsorted(lexicon.starts, rows, side="right") - 1
    scores = np.array([lexicon.values[lexicon.offsets[row] : lexicon.offsets[row] + m] for row in rows])
    n_words = len(lexicon.words)
    names = [lexicon.words[e] if e < n_words else f"<{lexicon.signatures[e - n_words]}>" for e in entries]
    return names, scores.reshape(-1, m) * np.exp(lexicon.log_weight[entries])[:, None]


def _rules(grammar: LatentGrammar, symbol: int, m: int) -> tuple[list[str], np.ndarray]:
    names, scores = [], [np.empty((0, m))]
    for rules, tensors, order in (
        (grammar.binary_rules, grammar.binary, 3),
        (grammar.unary_rules, grammar.unary, 2),
    ):
        for rule in np.flatnonzero(rules[:, 0] == symbol).tolist():
            right = " ".join(grammar.symbols[s] for s in rules[rule, 1:])
            names.append(f"{grammar.symbols[symbol]} -> {right}")
            scores.append(tensor(grammar, tensors, rule, order).reshape(1, m, -1).sum(axis=2))
    return names, np.concatenate(scores)
