"""Rank the training trees by their influence on a predicted bracket, to first order.

The log odds of a bracket are log Z(with the bracket) − log Z(without the bracket), where each Z is a sum of
probabilities over trees of the sentence. The derivative of log Z with respect to the logarithm of a parameter
of the grammar is the expected count of the parameter. Each parameter is a ratio of counts, to which the
training trees contribute. So one pass over the treebank shows how much the log odds would fall without each
tree. These are influence functions (Koh and Liang 2017), with counts in place of the Hessian.

The module `recount` computes the influence of a tree exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spectralnlp.estimators.parser.counted_grammar import CountedGrammar
from spectralnlp.inference.trees.forest import LEXICAL, Forest
from spectralnlp.inference.trees.latent import leaf_vectors
from spectralnlp.inference.trees.rule_counts import ForestCounts, count_rules
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.parameters import Floats

# Upper bound on the share of Z lost by one node. Estimates may exceed 1: forests are pruned, and a tree may
# use a rule twice.
_MOST = 0.98


@dataclass(frozen=True)
class Influence:
    """Estimated influence of the training trees on a bracket.

    Attributes:
        log_odds: natural logarithm of the odds of the bracket under the grammar, before rescoring.
        nodes: float64 (n_nodes,); by how much each node of the treebank raises the log odds.
        trees: float64 (n_trees,); by how much each tree raises the log odds, summed over its nodes.
    """

    log_odds: float
    nodes: Floats
    trees: Floats


def influence(counted: CountedGrammar, forests: Sequence[tuple[Forest, Lookup]]) -> Influence:
    """Estimate the influence of each training tree on a bracket.

    If a node is removed from the treebank, the probability of its rule falls. The total probability Z of a
    forest then falls by a fraction, which is estimated as the expected count of the rule in the forest times
    the relative fall of its probability.

    Args:
        counted: grammar with the counts of its training trees.
        forests: two forests of the sentence: one of its trees with the bracket, one of its trees without it.
            Each comes with the lexicon entries of the sentence's words.
    """
    log_totals, gains = [], []
    for forest, lookup in forests:
        leaves = leaf_vectors(forest, counted.grammar, lookup)
        found = count_rules(forest, counted.whole_rules, counted.grammar, leaves)
        log_totals.append(found.log_total)
        gains.append(_gains(counted, forest, lookup, leaves, found))
    lost = counted.shares @ np.stack(gains, axis=1)
    left = np.log1p(-np.minimum(lost, _MOST))
    nodes = left[:, 1] - left[:, 0]
    table = counted.index.table
    trees = np.bincount(table.tree, nodes, table.n_trees).astype(np.float64)
    return Influence(log_totals[0] - log_totals[1], nodes, trees)


def _gains(
    counted: CountedGrammar, forest: Forest, lookup: Lookup, leaves: Floats, found: ForestCounts
) -> Floats:
    """Return the derivative of a forest's log Z with respect to each number in ``counted.counts``.

    The probability of a rule or word is taken for its count, divided by the sum of all counts with the same
    left-hand state. Smoothing changes too little to matter for the order of the trees.

    Args:
        counted: grammar with the counts of its training trees.
        forest: forest of a sentence.
        lookup: lexicon entries of the sentence's words.
        leaves: float64; vectors of the forest's lexical nodes, concatenated.
        found: expected counts of the grammar's parameters in the forest.

    Returns:
        float64 (n_counts,); a derivative for each column of ``counted.shares``.
    """
    counts = counted.counts
    binary, unary = np.empty_like(counts.binary), np.empty_like(counts.unary)
    binary[counted.binary.order], unary[counted.unary.order] = found.binary, found.unary
    words, smoothed = _uses_of_words(counted, forest, lookup, leaves, found)
    uses = np.concatenate([binary, unary, words, found.root[counted.states]])
    values = np.concatenate([counts.binary, counts.unary, counts.pairs, counts.root])
    group = counted.left_hand_states
    used = np.bincount(group, uses) + np.append(smoothed, 0.0)
    per_count = used / np.maximum(np.bincount(group, values), 1e-300)
    return np.divide(uses, values, out=np.zeros_like(uses), where=values > 0.0) - per_count[group]


def _uses_of_words(
    counted: CountedGrammar, forest: Forest, lookup: Lookup, leaves: Floats, found: ForestCounts
) -> tuple[Floats, Floats]:
    """Return the expected count of each (word, tag, state) in a forest, as far as it stems from its count.

    p(tag | word) is smoothed. Of a use of a word, only the share is counted that its training tokens have in
    p(tag, state | word); what its signature adds does not change. A use of an unknown word is one of the
    words with its signature that were seen once.

    The arguments are those of `_gains`.

    Returns:
        The expected counts, float64, in the order of ``counted.counts.pairs``; and the expected count of each
        state of a tag that stems from smoothing, float64 (n_states,).
    """
    grammar, tokens, counts = counted.grammar, counted.tokens, counted.counts.pairs
    p_state = np.bincount(tokens.state, counts, len(grammar.root)) / counts.sum()
    uses, of_state, at = np.zeros(len(counts)), np.zeros(len(p_state)), 0
    for node in np.flatnonzero(forest.kind == LEXICAL).tolist():
        posteriors = found.states[found.offsets[node] : found.offsets[node + 1]]
        vector, at = leaves[at : at + len(posteriors)], at + len(posteriors)
        tag, entry = forest.symbol[node], int(lookup.entries[forest.start[node]])
        states = slice(grammar.state_offsets[tag], grammar.state_offsets[tag] + len(posteriors))
        of_state[states] += posteriors
        p = p_state[states] * vector  # p(tag, state | word)
        if entry >= len(grammar.lexicon.words):  # one word hardly changes the states of a signature
            p, posteriors = (np.full_like(p, each.sum()) for each in (p, posteriors))
        places, total = counted.tokens_of_entry(entry)
        places = places[tokens.tag[places] == tag]
        within, count = tokens.state[places] - states.start, counts[places]
        uses[places] += posteriors[within] * count / np.maximum(total * p[within], count)
    return uses, of_state - np.bincount(tokens.state, uses, len(of_state))
