"""What the trees of a treebank did for a bracket of a sentence, to first order.

The log-odds of a bracket are log Z(with it) − log Z(without it), Z a sum over trees of the sentence. The
derivative of log Z by the logarithm of one of the grammar's numbers is its expected count, and the number is
made of counts to which each tree of the treebank adds its own. So one pass over the treebank tells how much
the log-odds would fall if a tree were taken out (influence functions, Koh and Liang 2017, with counts where
these have a Hessian).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spectralnlp.estimators.parser.counted_grammar import CountedGrammar
from spectralnlp.inference.trees.forest import LEXICAL, Forest
from spectralnlp.inference.trees.latent import leaf_vectors
from spectralnlp.inference.trees.rule_counts import ForestCounts, count_rules
from spectralnlp.inference.trees.tree_states import StateTensors, expected_counts
from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.parameters import Floats

_MOST = 0.999  # share of all trees of the sentence that one node can be taken to bear


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

    Without one node of the treebank a rule's probability falls, and a forest loses a share of Z: the rule's
    expected count times the fall. What is left after several nodes is multiplied. A word that falls out has
    its signature's tags instead, so that of words the shares themselves are taken, and not the logarithms of
    what is left: these would be far too large.

    Args:
        counted: the grammar, and the trees that it was counted from.
        forests: of the sentence's trees with the bracket, and of those without it, with the sentence's words
            in the grammar's lexicon.
    """
    table = counted.index.table
    rules = counted.rules(counted.index.probabilities(counted.counts, counted.smoothing))
    lost, log_totals = [], []
    for forest, lookup in forests:
        leaves = leaf_vectors(forest, counted.grammar, lookup)
        found = count_rules(forest, rules, counted.grammar, leaves)
        log_totals.append(found.log_total)
        lost.append(_lost_shares(counted, forest, lookup, leaves, found))
    with_it, without = lost
    of_rules = np.log1p(-np.minimum(without, _MOST)) - np.log1p(-np.minimum(with_it, _MOST))
    nodes = np.where(table.word >= 0, with_it - without, of_rules)
    trees = np.bincount(table.tree, nodes, table.n_trees).astype(np.float64)
    return Influence(log_totals[0] - log_totals[1], nodes, trees)


def _lost_shares(
    counted: CountedGrammar, forest: Forest, lookup: Lookup, leaves: Floats, found: ForestCounts
) -> Floats:
    """float64 (n_nodes,): what share of a forest's sum would be lost without each node of the treebank."""
    index, p = counted.index, counted.probabilities
    gains = StateTensors(
        *_rule_gains(counted, found),
        pairs=_token_gains(counted, _tokens_of(forest, leaves, found), lookup),
        root=_root_gains(counted, found.root),
    )
    lost = np.zeros(index.table.n_nodes)
    expected_counts(
        index.table,
        index.event,
        p.n_states,
        p.columns,
        index.offsets(p.n_states, p.columns),
        StateTensors(p.binary, p.unary, p.pairs, p.root),
        index.least_posterior,
        gains,
        lost,
    )
    return lost


def _rule_gains(counted: CountedGrammar, found: ForestCounts) -> tuple[Floats, Floats]:
    """What one more of each number of binary and of unary rules is worth.

    A probability is (1 − α) q + α · the mean of q over the states of the left-hand side, where q is the share
    of a count in the total of its state: one more raises its own q and lowers all that share the total.
    """
    index, counts, alpha = counted.index, counted.counts, counted.smoothing
    m = counts.n_states.astype(np.int64)
    first = np.concatenate([[0], np.cumsum(m)])
    offsets = index.offsets(counts.n_states, counts.columns)
    totals = np.zeros(first[-1])
    parts = []
    for values, at, parents, layout, uses in (
        (counts.binary, offsets.binary, index.binary_rules[:, 0], counted.binary, found.binary),
        (counts.unary, offsets.unary, index.unary_rules[:, 0], counted.unary, found.unary),
    ):
        difference = np.empty_like(values)
        difference[layout.order] = uses
        state = np.repeat(first[parents], np.diff(at)) + _rows(at, m[parents])
        totals += np.bincount(state, values, len(totals))
        parts.append((values, at, parents, difference, state))
    gains, of_state = [], np.zeros(len(totals))
    for values, at, parents, difference, _ in parts:
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


def _root_gains(counted: CountedGrammar, uses: Floats) -> Floats:
    """The same of roots."""
    root = counted.counts.root
    gains = np.divide(uses[counted.states], root, out=np.zeros_like(root), where=root > 0.0)
    return np.asarray(gains - 1.0 / root.sum())


def _tokens_of(
    forest: Forest, leaves: Floats, found: ForestCounts
) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Yield token and tag of each lexical node, the posteriors of its states, and its vector."""
    at = 0
    for node in np.flatnonzero(forest.kind == LEXICAL).tolist():
        states = found.states[found.offsets[node] : found.offsets[node + 1]]
        yield int(forest.start[node]), int(forest.symbol[node]), states, leaves[at : at + len(states)]
        at += len(states)


def _token_gains(
    counted: CountedGrammar, leaves: Iterable[tuple[int, int, Floats, Floats]], lookup: Lookup
) -> Floats:
    """What one more token of each word, tag and state is worth, but for what all tags of a word share.

    The lexicon's vector of (word, tag) is p(tag | word) / p(tag) times a mean over its tokens that says which
    state they are in, both smoothed toward the word's signature; what the signature says is taken as fixed.
    """
    tokens, grammar, options = counted.tokens, counted.grammar, counted.lexicon
    gain, of_tag, of_state = (
        np.zeros(len(tokens.count)),
        np.zeros(len(tokens.of_tag)),
        np.zeros(len(grammar.root)),
    )
    for token, tag, uses, vector in leaves:
        tag_count = tokens.of_tag[tag]
        of_tag[tag] -= uses.sum() / tag_count
        place = counted.tokens_of_entry(int(lookup.entries[token]), tag)
        count = tokens.count[place].sum()
        if count <= 0.0:
            continue
        states = slice(grammar.state_offsets[tag], grammar.state_offsets[tag + 1])
        by_state = np.maximum(tokens.of_state[states], 1e-300)
        within, p_state = tokens.state[place] - states.start, by_state / tag_count
        is_smoothed = tokens.of_word[tokens.word[place[0]]] <= options.frequent
        prior = counted.signature_share(int(lookup.signatures[token]), tag, p_state) if is_smoothed else 0.0
        gain[place] += uses.sum() / (count + options.word_prior * prior)
        mean = vector / max(float(p_state @ vector), 1e-300)
        own = (mean - options.tag_weight) / (1.0 - options.tag_weight)
        slope = np.divide(uses * (1.0 - options.tag_weight), mean, out=np.zeros_like(mean), where=mean > 0)
        slope /= count + options.state_prior
        z = np.bincount(within, tokens.count[place], len(p_state)) / p_state
        gain[place] += slope[within] / p_state[within] - float(slope @ own)
        of_tag[tag] += float(slope @ z) / tag_count
        of_state[states] -= slope * z / by_state
    return np.asarray(gain + of_tag[tokens.tag] + of_state[tokens.state])
