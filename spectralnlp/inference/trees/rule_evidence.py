"""Explain the log-odds of a bracket by contributions of the rules of a grammar.

The log-odds of a bracket are log Z₁ - log Z₀, where Z₁ is the total weight of the trees with the bracket, and
Z₀ that of the trees without it. Each log Z is the expected log weight of a tree, which is a sum over the
tree's rules, plus the entropy of the trees. A rule therefore contributes the logarithm of its probability
times the difference of its expected counts with and without the bracket. The difference of the entropies is
left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.evidence import Feature
from spectralnlp.inference.trees.forest import LEXICAL, Forest
from spectralnlp.inference.trees.latent import leaf_vectors
from spectralnlp.inference.trees.rule_counts import count_rules
from spectralnlp.inference.trees.sparse import SparseRules
from spectralnlp.inference.trees.viterbi import log_rules
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.parameters import Floats, LatentGrammar, Offsets
from spectralnlp.trees import is_intermediate, plain_symbol


def rule_evidence(
    grammar: LatentGrammar, forests: Sequence[tuple[Forest, Lookup]], words: Sequence[str]
) -> list[Feature]:
    """Return the contribution of each rule to the log-odds of a bracket, the largest first.

    Contributions are summed over the states of a rule's symbols, and over rules with the same text.

    Args:
        grammar: a grammar of probabilities, as ``pcfg`` estimates it.
        forests: two forests, each with the lexicon entries of the sentence's words: the forest of all trees
            with the bracket, then the forest of all trees without it.
        words: the words of the sentence.

    Returns:
        Rules, tagged words and "the root" with their contributions; empty if rules have negative weights, as
        in spectral grammars.
    """
    if min(each.values.min(initial=0.0) for each in (grammar.binary, grammar.unary)) < 0.0:
        return []
    logs = log_rules(grammar)
    rules = logs._replace(binary=np.exp(logs.binary), unary=np.exp(logs.unary))
    added: Counter[str] = Counter()
    for sign, (forest, lookup) in zip((1.0, -1.0), forests, strict=True):
        for text, log_weight in _log_weights(grammar, rules, forest, lookup, words):
            added[text] += sign * log_weight  # type: ignore[assignment]
    return [Feature(text, float(weight)) for text, weight in added.most_common()]


def _log_weights(
    grammar: LatentGrammar, rules: SparseRules, forest: Forest, lookup: Lookup, words: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """Yield pairs of a rule of a forest, as text, and its expected count times its log weight.

    Tagged words, and the choice of the root symbol ("the root"), are yielded like rules.
    """
    leaves = leaf_vectors(forest, grammar, lookup)
    found = count_rules(forest, rules, grammar, leaves)

    def name(symbol: int) -> str:
        text = grammar.symbols[symbol]
        return "…" if is_intermediate(text) else plain_symbol(text)

    for symbols, offsets, uses, weights in (
        (grammar.binary_rules, rules.binary_offsets, found.binary, rules.binary),
        (grammar.unary_rules, rules.unary_offsets, found.unary, rules.unary),
    ):
        of_rules = _by_rule(offsets, _expected_logs(uses, weights))
        for rule in np.flatnonzero(of_rules).tolist():
            parent, *children = map(name, symbols[rule].tolist())
            yield f"{parent} → {' '.join(children)}", float(of_rules[rule])
    at = 0
    for node in np.flatnonzero(forest.kind == LEXICAL).tolist():
        states = found.states[found.offsets[node] : found.offsets[node + 1]]
        logs = _expected_logs(states, leaves[at : at + len(states)])
        at += len(states)
        yield f"{name(int(forest.symbol[node]))} → {words[int(forest.start[node])]}", float(logs.sum())
    yield "the root", float(_expected_logs(found.root, grammar.root).sum())


def _expected_logs(uses: Floats, weights: NDArray[np.floating]) -> Floats:
    """Return ``uses · log(weights)`` elementwise; 0 where an expected count or a weight is not positive."""
    logs = np.log(weights, out=np.zeros(len(weights)), where=(uses > 0.0) & (weights > 0.0))
    return np.asarray(uses * logs)


def _by_rule(offsets: Offsets, values: Floats) -> Floats:
    """Sum values over the state combinations of each rule, float64 (n_rules,).

    Args:
        offsets: int64 (n_rules + 1,); rule r has ``values[offsets[r]:offsets[r + 1]]``.
        values: float64; a value for each combination of states of a rule's symbols.
    """
    rule = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return np.bincount(rule, values, len(offsets) - 1).astype(np.float64)
