"""What the trees of a treebank did for a bracket of a sentence, to first order.

The log-odds of a bracket are log Z(with it) − log Z(without it), Z a sum over trees of the sentence. The
derivative of log Z by the logarithm of one of the grammar's numbers is its expected count, and the number is
made of counts to which each tree of the treebank adds its own. So one pass over the treebank tells how much
the log-odds would fall if a tree were taken out (influence functions, Koh and Liang 2017, with counts where
these have a Hessian).
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

_MOST = 0.98  # share of Z that is lost at one node at most: forests are pruned, and a rule is used twice


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
    expected count times the fall. What is left after several nodes is multiplied. p(tag | word) is counted
    anew for the sentence's words, for many a word has a tag from one tree alone.

    Args:
        counted: the grammar, and the trees that it was counted from.
        forests: of the sentence's trees with the bracket, and of those without it, with the sentence's words
            in the grammar's lexicon.
    """
    table = counted.index.table
    left, log_totals = [], []
    for forest, lookup in forests:
        leaves = leaf_vectors(forest, counted.grammar, lookup)
        found = count_rules(forest, counted.whole_rules, counted.grammar, leaves)
        log_totals.append(found.log_total)
        lost = _lost_shares(counted, forest, lookup, leaves, found)
        left.append(
            np.log1p(-np.minimum(lost, _MOST)) + _left_of_words(counted, forest, leaves, found, lookup)
        )
    nodes = left[1] - left[0]
    trees = np.bincount(table.tree, nodes, table.n_trees).astype(np.float64)
    return Influence(log_totals[0] - log_totals[1], nodes, trees)


def _lost_shares(
    counted: CountedGrammar, forest: Forest, lookup: Lookup, leaves: Floats, found: ForestCounts
) -> Floats:
    """float64 (n_nodes,): what share of a forest's sum would be lost without each node of the treebank."""
    gains = np.concatenate(
        [
            *_rule_gains(counted, found),
            _token_gains(counted, _tokens_of(forest, leaves, found), lookup),
            _root_gains(counted, found.root),
        ]
    )
    return np.asarray(counted.shares @ gains)


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


def _left_of_words(
    counted: CountedGrammar, forest: Forest, leaves: Floats, found: ForestCounts, lookup: Lookup
) -> Floats:
    """float64 (n_nodes,): logarithm of the share of Z that is left as p(tag | token) is without a tree.

    It stands at a token of the word in each tree of the treebank, or at one that votes for its signature.
    """
    left = np.zeros(counted.index.table.n_nodes)
    uses: dict[int, dict[int, float]] = defaultdict(dict)
    for token, tag, posteriors, _ in _tokens_of(forest, leaves, found):
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
    """p(tag | token) with all trees, and without each of those that change it.

    Args:
        counted: the grammar, and the trees that it was counted from.
        entry, signature: of the token in the lexicon.
        tags: symbols.

    Returns:
        int64 (n_some,), a token of each tree; float64 (n_tags,) and float64 (n_some, n_tags).
    """
    table, options, word = counted.index.table, counted.lexicon, counted.word_of_entry(entry)
    tokens = np.flatnonzero(table.word == word) if word >= 0 else np.empty(0, np.intp)
    if len(tokens) > 2 * options.frequent:
        signs = SignatureShares.fixed(
            np.zeros(len(tags))
        )  # no tree has so many of them that they would be rare
    else:
        signs = counted.signature_shares(signature, tags)
    if word < 0:
        return signs.rows, signs.whole, signs.without
    trees, place = np.unique(np.concatenate([signs.trees, table.tree[tokens]]), return_index=True)
    rows = np.concatenate([signs.rows, tokens])[place]
    sign = np.tile(signs.whole, (len(trees), 1))
    sign[np.searchsorted(trees, signs.trees)] = signs.without
    own_tag = counted.symbol_of_state[counted.place[table.symbol[tokens]]]
    at = np.searchsorted(trees, table.tree[tokens])
    own, gone = (
        np.bincount(own_tag, minlength=len(counted.grammar.symbols))[tags],
        np.stack([np.bincount(at[own_tag == tag], minlength=len(trees)) for tag in tags], axis=1),
    )
    total, total_gone = len(tokens), np.bincount(at, minlength=len(trees))
    prior = options.word_prior * (total <= options.frequent)
    new_prior = (options.word_prior * (total - total_gone <= options.frequent))[:, None]
    before = (own + prior * signs.whole) / (total + prior)
    after = (own - gone + new_prior * sign) / np.maximum((total - total_gone)[:, None] + new_prior, 1e-300)
    return rows, before, after


def _token_gains(
    counted: CountedGrammar, leaves: Iterable[tuple[int, int, Floats, Floats]], lookup: Lookup
) -> Floats:
    """What one more token of each word, tag and state is worth, but for p(tag | word).

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
        own = (mean - options.tag_weight) / (1.0 - options.tag_weight)
        slope = np.divide(uses * (1.0 - options.tag_weight), mean, out=np.zeros_like(mean), where=mean > 0)
        slope /= count + options.state_prior
        z = np.bincount(within, tokens.count[place], len(p_state)) / p_state
        gain[place] += slope[within] / p_state[within] - float(slope @ own)
        of_tag[tag] += float(slope @ z) / tag_count
        of_state[states] -= slope * z / by_state
    return np.asarray(gain + of_tag[tokens.tag] + of_state[tokens.state])
