"""Estimate the influence of each training tree on a predicted bracket of a sentence, to first order.

The log odds of a bracket are log Z(with the bracket) − log Z(without the bracket), where each Z is a sum of
probabilities over trees of the sentence. The derivative of log Z with respect to the logarithm of a parameter
of the grammar is the expected count of the parameter. Each parameter is a ratio of counts, to which the
training trees contribute. So one pass over the treebank shows how much the log odds would fall without each
tree. These are influence functions (Koh and Liang 2017), with counts in place of the Hessian.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.parser.counted_grammar import CountedGrammar
from spectralnlp.estimators.parser.signature_votes import SignatureShares
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
    """Influence of the training trees on a bracket.

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
    the relative fall of its probability. The changes of p(tag | word) are computed exactly.

    Args:
        counted: grammar with the counts of its training trees.
        forests: two forests of the sentence: one of its trees with the bracket, one of its trees without it.
            Each comes with the lexicon entries of the sentence's words.
    """
    table = counted.index.table
    left, log_totals = [], []
    for forest, lookup in forests:
        leaves = leaf_vectors(forest, counted.grammar, lookup)
        forest_counts = count_rules(forest, counted.whole_rules, counted.grammar, leaves)
        log_totals.append(forest_counts.log_total)
        lost = _lost_shares(counted, forest, lookup, leaves, forest_counts)
        left.append(
            np.log1p(-np.minimum(lost, _MOST))
            + _left_of_words(counted, forest, leaves, forest_counts, lookup)
        )
    nodes = left[1] - left[0]
    trees = np.bincount(table.tree, nodes, table.n_trees).astype(np.float64)
    return Influence(log_totals[0] - log_totals[1], nodes, trees)


def _lost_shares(
    counted: CountedGrammar, forest: Forest, lookup: Lookup, leaves: Floats, forest_counts: ForestCounts
) -> Floats:
    """Return the fraction by which a forest's total Z would fall if a node of the treebank were removed.

    The change of p(tag | word) is not included; `_left_of_words` computes its effect.

    Args:
        counted: grammar with the counts of its training trees.
        forest: forest of a sentence.
        lookup: lexicon entries of the sentence's words.
        leaves: float64; vectors of the forest's lexical nodes, concatenated.
        forest_counts: expected counts of the grammar's parameters in the forest.

    Returns:
        The fraction for each node of the treebank, float64 (n_nodes,).
    """
    gains = np.concatenate(
        [
            *_rule_gains(counted, forest_counts),
            _token_gains(counted, _tokens_of(forest, leaves, forest_counts), lookup),
            _root_gains(counted, forest_counts.root),
        ]
    )
    return np.asarray(counted.shares @ gains)


def _rule_gains(counted: CountedGrammar, forest_counts: ForestCounts) -> tuple[Floats, Floats]:
    """Return the derivative of a forest's log Z with respect to each count of binary and of unary rules.

    The probability of a rule is (1 − α) q + α · (mean of q over the states of the left-hand side). Here α is
    the smoothing weight, and q is a count divided by the sum of all counts with the same left-hand state.

    Args:
        counted: grammar with the counts of its training trees.
        forest_counts: expected counts of the grammar's parameters in the forest.
    """
    index, counts, alpha = counted.index, counted.counts, counted.smoothing
    m = counts.n_states.astype(np.int64)
    first = np.concatenate([[0], np.cumsum(m)])
    offsets = index.offsets(counts.n_states, counts.columns)
    totals = np.zeros(first[-1])
    parts = []
    for values, at, parents, layout, uses in (
        (counts.binary, offsets.binary, index.binary_rules[:, 0], counted.binary, forest_counts.binary),
        (counts.unary, offsets.unary, index.unary_rules[:, 0], counted.unary, forest_counts.unary),
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
    """Return the row index, within its matrix, of each element of concatenated row-major matrices.

    Args:
        offsets: int (n_matrices + 1,); start of each matrix.
        n_rows: int (n_matrices,); number of rows of each matrix.
    """
    sizes = np.diff(offsets)
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    return within // np.repeat(np.maximum(sizes // n_rows, 1), sizes)


def _root_gains(counted: CountedGrammar, uses: Floats) -> Floats:
    """Return the derivative of a forest's log Z with respect to the count of each state at the root.

    Args:
        counted: grammar with the counts of its training trees.
        uses: expected count of each state at the root in a forest.
    """
    root = counted.counts.root
    gains = np.divide(uses[counted.states], root, out=np.zeros_like(root), where=root > 0.0)
    return np.asarray(gains - 1.0 / root.sum())


def _tokens_of(
    forest: Forest, leaves: Floats, forest_counts: ForestCounts
) -> Iterator[tuple[int, int, Floats, Floats]]:
    """Yield the token, the tag, the states and the vector of each lexical node of a forest.

    A lexical node is a token with one of its possible tags.

    Args:
        forest: forest of a sentence.
        leaves: float64; vectors of the lexical nodes, concatenated.
        forest_counts: expected counts of the grammar's parameters in the forest.

    Yields:
        The index of the token; the symbol of the tag; the posterior probabilities of the tag's states; and
        the node's vector over these states.
    """
    at = 0
    for node in np.flatnonzero(forest.kind == LEXICAL).tolist():
        states = forest_counts.states[forest_counts.offsets[node] : forest_counts.offsets[node + 1]]
        yield int(forest.start[node]), int(forest.symbol[node]), states, leaves[at : at + len(states)]
        at += len(states)


def _left_of_words(
    counted: CountedGrammar, forest: Forest, leaves: Floats, forest_counts: ForestCounts, lookup: Lookup
) -> Floats:
    """Return the change of a forest's log Z if a training tree is removed, due to p(tag | word) alone.

    The arguments are those of `_lost_shares`.

    Returns:
        float64 (n_nodes,); the change for a tree is stored at one of its preterminal nodes; 0 elsewhere.
    """
    left = np.zeros(counted.index.table.n_nodes)
    uses: dict[int, dict[int, float]] = defaultdict(dict)
    for token, tag, posteriors, _ in _tokens_of(forest, leaves, forest_counts):
        uses[token][tag] = float(posteriors.sum())
    for token, of_tags in uses.items():
        entry, signature = int(lookup.entries[token]), int(lookup.signatures[token])
        rows, before, after = _tags_without(counted, entry, signature, list(of_tags))
        ratio = np.divide(after, before, out=np.ones_like(after), where=before > 0.0)
        left[rows] += np.log(np.maximum(ratio @ np.array([*of_tags.values()]), 1.0 - _MOST))
    return left


def _tags_without(
    counted: CountedGrammar, entry: int, signature: int, tags: Sequence[int]
) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Compute p(tag | word) of a token from all trees, and again with one tree left out at a time.

    Only trees that influence p(tag | word) are left out.

    Args:
        counted: grammar with the counts of its training trees.
        entry, signature: lexicon entries of the token's word and of its signature.
        tags: symbols of the tags.

    Returns:
        Three arrays: int64 (n,), a preterminal node of each of the n trees that are left out; float64
        (n_tags,), p(tag | word) from all trees; and float64 (n, n_tags), p(tag | word) without each of the n
        trees.
    """
    table, options, word = counted.index.table, counted.lexicon, counted.word_of_entry(entry)
    tokens = np.flatnonzero(table.word == word) if word >= 0 else np.empty(0, np.intp)
    if len(tokens) > 2 * options.frequent:
        # A frequent word stays frequent without any one tree, so its signature has no weight.
        signs = SignatureShares.fixed(np.zeros(len(tags)))
    else:
        signs = counted.signature_shares(signature, tags)
    if word < 0:
        return signs.rows, signs.whole, signs.without
    trees, place = np.unique(np.concatenate([signs.trees, table.tree[tokens]]), return_index=True)
    rows = np.concatenate([signs.rows, tokens])[place]
    sign = np.tile(signs.whole, (len(trees), 1))
    sign[np.searchsorted(trees, signs.trees)] = signs.without
    tag_of_token = counted.symbol_of_state[counted.place[table.symbol[tokens]]]
    at = np.searchsorted(trees, table.tree[tokens])
    of_tag, gone = (
        np.bincount(tag_of_token, minlength=len(counted.grammar.symbols))[tags],
        np.stack([np.bincount(at[tag_of_token == tag], minlength=len(trees)) for tag in tags], axis=1),
    )
    total, total_gone = len(tokens), np.bincount(at, minlength=len(trees))
    prior = options.word_prior * (total <= options.frequent)
    new_prior = (options.word_prior * (total - total_gone <= options.frequent))[:, None]
    before = (of_tag + prior * signs.whole) / (total + prior)
    after = (of_tag - gone + new_prior * sign) / np.maximum((total - total_gone)[:, None] + new_prior, 1e-300)
    return rows, before, after


def _token_gains(
    counted: CountedGrammar, leaves: Iterable[tuple[int, int, Floats, Floats]], lookup: Lookup
) -> Floats:
    """Return the derivative of a forest's log Z with respect to each (word, tag, state) count.

    The effect of a count on p(tag | word) is not included; `_left_of_words` computes it.

    Args:
        counted: grammar with the counts of its training trees.
        leaves: the forest's lexical nodes, as `_tokens_of` yields them.
        lookup: lexicon entries of the sentence's words.

    Returns:
        float64 (n_counts,); a derivative for each count in ``counted.tokens``.
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
        word = counted.word_of_entry(int(lookup.entries[token]))
        if word < 0:
            continue
        place = counted.tokens_of_word(word, tag)
        count = tokens.count[place].sum()
        if count <= 0.0:
            continue
        states = slice(grammar.state_offsets[tag], grammar.state_offsets[tag + 1])
        by_state = np.maximum(tokens.of_state[states], 1e-300)
        within, p_state = tokens.state[place] - states.start, by_state / tag_count
        mean = vector / max(float(p_state @ vector), 1e-300)
        word_mean = (mean - options.tag_weight) / (1.0 - options.tag_weight)
        slope = np.divide(uses * (1.0 - options.tag_weight), mean, out=np.zeros_like(mean), where=mean > 0)
        slope /= count + options.state_prior
        z = np.bincount(within, tokens.count[place], len(p_state)) / p_state
        gain[place] += slope[within] / p_state[within] - float(slope @ word_mean)
        of_tag[tag] += float(slope @ z) / tag_count
        of_state[states] -= slope * z / by_state
    return np.asarray(gain + of_tag[tokens.tag] + of_state[tokens.state])
