"""What the trees of a treebank did for a bracket of a sentence, to first order.

The log-odds of a bracket are log Z(with it) − log Z(without it), sums over the trees of a sentence. Their
derivative by the logarithm of a grammar's number is the difference of its expected counts in the two forests,
and the number is made of counts to which each tree adds its own. So one pass over the trees tells how much the
log-odds would fall if a tree were taken out (influence functions: Koh and Liang 2017, here with counts in
place of a Hessian).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spectralnlp.estimators.parser.counted_grammar import CountedGrammar, row_numbers
from spectralnlp.inference.trees.forest import LEXICAL, Forest
from spectralnlp.inference.trees.latent import leaf_vectors
from spectralnlp.inference.trees.rule_counts import ForestCounts, count_rules
from spectralnlp.inference.trees.tree_states import StateTensors, expected_counts
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.parameters import Floats, Ints

_Vectors = Mapping[tuple[int, int], Floats]  # of a token and a tag


@dataclass(frozen=True)
class Influence:
    """What trees did for a bracket.

    Attributes:
        log_odds: natural logarithm of the odds of the bracket under the grammar, before rescoring.
        nodes: float64 (n_nodes,); by how much each node of the treebank's table raises them.
        trees: float64 (n_trees,); the sums over the nodes of each tree.
    """

    log_odds: float
    nodes: Floats
    trees: Floats


def influence(counted: CountedGrammar, forests: Sequence[tuple[Forest, Lookup]]) -> Influence:
    """Find what each tree did for a bracket.

    Args:
        counted: the grammar, and the trees that it was counted from.
        forests: of the sentence's trees with the bracket, and of those without it, with the sentence's words
            in the grammar's lexicon.
    """
    index, counts = counted.index, counted.counts
    probabilities = index.probabilities(counts, counted.smoothing)
    rules, grammar = counted.rules(probabilities), counted.grammar
    found, vectors, values = [], [], {}
    for forest, lookup in forests:
        leaves = leaf_vectors(forest, grammar, lookup)
        found.append(count_rules(forest, rules, grammar, leaves))
        vectors.append(_leaf_states(forest, found[-1]))
        values |= _leaf_values(forest, leaves, counted)
    with_it, without = found
    gains = StateTensors(
        *_rule_gains(counted, with_it, without),
        pairs=_token_gains(counted, _difference(*vectors), values, forests[0][1]),
        root=_root_gains(counted, with_it.root - without.root),
    )
    nodes = np.zeros(index.table.n_nodes)
    p = counted.probabilities
    expected_counts(
        index.table,
        index.event,
        p.n_states,
        p.columns,
        index.offsets(p.n_states, p.columns),
        StateTensors(p.binary, p.unary, p.pairs, p.root),
        index.least_posterior,
        gains,
        nodes,
    )
    trees = np.bincount(index.table.tree, nodes, index.table.n_trees)
    return Influence(with_it.log_total - without.log_total, nodes, trees)


def _rule_gains(
    counted: CountedGrammar, with_it: ForestCounts, without: ForestCounts
) -> tuple[Floats, Floats]:
    """What one more of each number of binary and of unary rules is worth.

    A probability is (1 − α) q + α · the mean of q over the states of the left-hand side, q the share of a count
    in the total of its state: one more raises its own q and lowers all that share the total.
    """
    index, counts, alpha = counted.index, counted.counts, counted.smoothing
    m = counts.n_states.astype(np.int64)
    first = np.concatenate([[0], np.cumsum(m)])
    offsets = index.offsets(counts.n_states, counts.columns)
    totals = np.zeros(first[-1])
    parts = []
    for values, at, parents, layout, more, less in (
        (counts.binary, offsets.binary, index.binary_rules[:, 0], counted.binary, with_it.binary, without.binary),
        (counts.unary, offsets.unary, index.unary_rules[:, 0], counted.unary, with_it.unary, without.unary),
    ):
        difference = np.empty_like(values)
        difference[layout.order] = more - less
        state = np.repeat(first[parents], np.diff(at)) + _rows(at, m[parents])
        totals += np.bincount(state, values, len(totals))
        parts.append((values, at, parents, difference, state))
    gains, of_state = [], np.zeros(len(totals))
    for values, at, parents, difference, state in parts:
        gain = np.zeros_like(values)
        used = np.unique(np.repeat(np.arange(len(parents)), np.diff(at))[difference != 0.0])
        for rule in used.tolist():
            block, h = slice(at[rule], at[rule + 1]), slice(first[parents[rule]], first[parents[rule] + 1])
            total = np.maximum(totals[h], 1e-300)[:, None]
            share = values[block].reshape(len(total), -1) / total
            p = (1.0 - alpha) * share + alpha * share.mean(axis=0)
            slope = np.divide(difference[block].reshape(p.shape), p, out=np.zeros_like(p), where=p > 0.0)
            slope = (1.0 - alpha) * slope + alpha * slope.mean(axis=0)
            gain[block] = (slope / total).ravel()
            of_state[h] -= (slope * share).sum(axis=1) / total[:, 0]
        gains.append(gain)
    return gains[0] + of_state[parts[0][4]], gains[1] + of_state[parts[1][4]]


def _rows(offsets: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
    """The row of each number of matrices laid end to end."""
    sizes = np.diff(offsets)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    return within // np.repeat(np.maximum(sizes // n_rows, 1), sizes)


def _root_gains(counted: CountedGrammar, difference: Floats) -> Floats:
    root = counted.counts.root
    wanted = difference[counted.states]
    return np.divide(wanted, root, out=np.zeros_like(root), where=root > 0.0)


def _leaf_states(forest: Forest, found: ForestCounts) -> _Vectors:
    """Posteriors of the states of each token's tags."""
    leaves = np.flatnonzero(forest.kind == LEXICAL)
    return {
        (int(forest.start[node]), int(forest.symbol[node])): found.states[
            found.offsets[node] : found.offsets[node + 1]
        ]
        for node in leaves.tolist()
    }


def _leaf_values(forest: Forest, leaves: Floats, counted: CountedGrammar) -> _Vectors:
    """The lexical vectors of each token's tags."""
    nodes, values, at = np.flatnonzero(forest.kind == LEXICAL), {}, 0
    for node in nodes.tolist():
        symbol = int(forest.symbol[node])
        size = int(counted.grammar.n_states[symbol])
        values[int(forest.start[node]), symbol] = leaves[at : at + size]
        at += size
    return values


def _difference(with_it: _Vectors, without: _Vectors) -> _Vectors:
    zero = np.zeros(1)
    return {key: with_it.get(key, zero) - without.get(key, zero) for key in {**with_it, **without}}


def _token_gains(
    counted: CountedGrammar, differences: _Vectors, values: _Vectors, lookup: Lookup
) -> Floats:
    """What one more token of each word, tag and state is worth.

    The lexicon's vector of (word, tag) is p(tag | word) / p(tag) times a mean over its tokens that says which
    state they are in, both smoothed toward the word's signature; what the signature says is taken as fixed.
    """
    tokens, grammar, options = counted.tokens, counted.grammar, counted.lexicon
    lexicon, table = grammar.lexicon, counted.index.table
    number = {word: place for place, word in enumerate(table.words)}
    rows = row_numbers(lexicon)
    gain = np.zeros(len(tokens.count))
    of_tag, of_state = np.zeros(len(grammar.symbols)), np.zeros(len(grammar.root))
    for (token, tag), difference in differences.items():
        tag_count = tokens.of_tag[tag]
        of_tag[tag] -= difference.sum() / tag_count
        entry = int(lookup.entries[token])
        word = number.get(lexicon.words[entry], -1) if entry < len(lexicon.words) else -1
        if word < 0:
            continue
        place = np.arange(tokens.starts[word], tokens.starts[word + 1])
        place = place[tokens.tag[place] == tag]
        count = tokens.count[place].sum()
        if count <= 0.0:
            continue
        states = slice(grammar.state_offsets[tag], grammar.state_offsets[tag + 1])
        by_state = np.maximum(tokens.of_state[states], 1e-300)
        p_state = by_state / tag_count
        within = tokens.state[place] - states.start
        sign = rows.get((int(lookup.signatures[token]), tag))
        prior = 0.0
        if sign is not None and tokens.of_word[word] <= options.frequent:
            vector = lexicon.values[lexicon.offsets[sign] : lexicon.offsets[sign + 1]]
            prior = options.word_prior * tag_count / tokens.count.sum() * float(p_state @ vector)
        gain[place] += difference.sum() / (count + prior)
        mean = values[token, tag] / max(float(p_state @ values[token, tag]), 1e-300)
        own = (mean - options.tag_weight) / (1.0 - options.tag_weight)
        slope = np.divide(difference * (1.0 - options.tag_weight), mean, out=np.zeros_like(mean), where=mean > 0)
        slope /= count + options.state_prior
        z = np.zeros(len(p_state))
        np.add.at(z, within, tokens.count[place])
        z /= p_state
        gain[place] += slope[within] / p_state[within] - float(slope @ own)
        of_tag[tag] += float(slope @ z) / tag_count
        of_state[states] -= slope * z / by_state
    return gain + of_tag[tokens.tag] + of_state[tokens.state]
