"""Estimate refinement HMMs by counting the hidden states of tokens; parameters are probabilities.

At first, the states (refinements) of a tag are clusters of its tokens, or every count is divided at random
among the states. EM on the tagged sentences then refines the counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.estimators.rhmm.solve import TagBigrams, end_to_end, tokens_of
from spectralnlp.estimators.shared.event_index import EventIndex, smoothed_shares
from spectralnlp.estimators.shared.lexicon import LexiconMaker, LexiconOptions, TokenCounts
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.inference.chains.refined_em import StateCounts, expected_state_counts
from spectralnlp.parameters import Floats, Ints, RefinedMarkov


@dataclass(frozen=True)
class TagCounts:
    """Counts, expected counts or probabilities of tag bigrams and (word, tag) pairs with latent states.

    Attributes:
        n_states: int32 (n_tags,); number of states of each tag.
        events: the counts of sentence starts and ends, transitions and words, zero-padded to the largest
            number of states of a tag.
    """

    n_states: Ints
    events: StateCounts

    @property
    def is_state(self) -> np.ndarray:
        """Mask of the states that each tag has, bool (n_tags, m); m is the largest number of states."""
        return np.arange(self.events.starts.shape[1]) < self.n_states[:, None]


@dataclass(frozen=True, kw_only=True)
class TagEventIndex(EventIndex[TagCounts]):
    """The distinct tag bigrams and (word, tag) pairs of tagged sentences, and which of them each token has.

    Attributes:
        table: tokens of tagged sentences.
        bigrams: bigram probabilities of tags.
        tokens: counts of each (word, tag) pair.
        pair: int32 (n_tokens,); index in ``bigrams.pairs`` of the tags of the token and the next one, or -1
            at the end of a sentence.
        word: int32 (n_tokens,); index in ``tokens`` of the token's (word, tag) pair.
    """

    table: TagTable
    bigrams: TagBigrams
    tokens: TokenCounts
    pair: Ints
    word: Ints

    @classmethod
    def of(cls, table: TagTable, bigrams: TagBigrams) -> TagEventIndex:
        """Find the distinct (word, tag) pairs of a table, and the pair and the tag bigram of each token."""
        n_tags, inner = len(table.tags), np.flatnonzero(~table.last)
        pair = np.full(table.n_tokens, -1, np.int32)
        pair[inner] = np.searchsorted(
            bigrams.pairs[:, 0].astype(np.int64) * n_tags + bigrams.pairs[:, 1],
            table.tag[inner].astype(np.int64) * n_tags + table.tag[inner + 1],
        )
        tokens, word = tokens_of(table)
        return cls(table=table, bigrams=bigrams, tokens=tokens, pair=pair, word=word.astype(np.int32))

    @property
    def nodes(self) -> Nodes:
        """The tokens in the form of tree nodes, with tags as symbols, for code shared with tree grammars."""
        return self.table.nodes

    def count_states(self, state: Ints, n_states: Ints) -> TagCounts:
        """Count starts, ends, transitions and words, given a state for each token; see `EventIndex`."""
        table, m = self.table, int(n_states.max())
        last, first = table.last, table.first
        inner = np.flatnonzero(~last)
        n_tags, n_pairs, n_words = len(table.tags), len(self.bigrams.pairs), len(self.tokens.word)

        def count(rows: np.ndarray, code: np.ndarray, shape: tuple[int, ...]) -> Floats:
            total = np.bincount(code, table.weight[rows], int(np.prod(shape)))
            return total.reshape(shape).astype(np.float64)

        moved = (self.pair[inner].astype(np.int64) * m + state[inner]) * m + state[inner + 1]
        by_tag = table.tag.astype(np.int64) * m + state
        every = np.arange(table.n_tokens)
        events = StateCounts(
            starts=count(every[first], by_tag[first], (n_tags, m)),
            ends=count(every[last], by_tag[last], (n_tags, m)),
            moves=count(inner, moved, (n_pairs, m, m)),
            words=count(every, self.word.astype(np.int64) * m + state, (n_words, m)),
        )
        return TagCounts(n_states, events)

    def random_counts(self, n_states: Ints, *, noise: float, random_state: int) -> TagCounts:
        """Divide counts of tag bigrams and words among states evenly, with noise; see `EventIndex`."""
        rng = np.random.default_rng(random_state)
        counts = self.count_states(np.zeros(self.table.n_tokens, np.int32), n_states)
        starts, ends, moves, words = counts.events
        is_state = counts.is_state
        before, after = is_state[self.bigrams.pairs[:, 0]], is_state[self.bigrams.pairs[:, 1]]

        def shared(count: Floats, allowed: np.ndarray) -> Floats:
            axes = tuple(range(1, allowed.ndim))
            totals = count.sum(axis=axes, keepdims=True) / allowed.sum(axis=axes, keepdims=True)
            return np.where(allowed, totals * rng.uniform(1 - noise, 1 + noise, allowed.shape), 0.0)

        events = StateCounts(
            starts=shared(starts, is_state),
            ends=shared(ends, is_state),
            moves=shared(moves, before[:, :, None] & after[:, None, :]),
            words=shared(words, is_state[self.tokens.tag]),
        )
        return TagCounts(n_states, events)

    def probabilities(self, counts: TagCounts, smoothing: float) -> TagCounts:
        """Return smoothed probabilities of transitions and words from counts; see `EventIndex`."""
        starts, ends, moves, words = counts.events
        n_states, is_state = counts.n_states, counts.is_state
        before, of_word = self.bigrams.pairs[:, 0], self.tokens.tag

        def normalised(block: Floats, total: Floats, tag: Ints | slice) -> Floats:
            shape = (*total[tag].shape, *(1,) * (block.ndim - 2))
            sizes = n_states[tag].reshape(-1, *(1,) * (block.ndim - 1))
            shares = smoothed_shares(block, total[tag].reshape(shape), smoothing, axis=1, n_states=sizes)
            return np.where(is_state[tag].reshape(shape), shares, 0.0)

        followed, spoken = ends.copy(), np.zeros_like(ends)
        np.add.at(followed, before, moves.sum(axis=2))
        np.add.at(spoken, of_word, words)
        every_tag = slice(None)
        events = StateCounts(
            starts=starts / starts.sum(),
            ends=normalised(ends, followed, every_tag),
            moves=normalised(moves, followed, before),
            words=normalised(words, spoken, of_word),
        )
        return TagCounts(n_states, events)

    def expected_counts(self, probabilities: TagCounts) -> tuple[TagCounts, float]:
        """Compute expected counts of latent states in the sentences (E-step of EM); see `EventIndex`."""
        table = self.table
        events, log_likelihood = expected_state_counts(
            table.tag, self.pair, self.word, table.weight, probabilities.events
        )
        return TagCounts(probabilities.n_states, events), log_likelihood


def state_model(
    index: TagEventIndex, counts: TagCounts, smoothing: float, lexicon_options: LexiconOptions
) -> RefinedMarkov:
    """Estimate a model from counts, or expected counts, of latent states in tagged sentences.

    Args:
        index: tag bigrams and (word, tag) pairs of the tagged sentences.
        counts: counts of events.
        smoothing: smoothing weight α; see `TagEventIndex.probabilities`.
        lexicon_options: spelling classes and smoothing of the lexicon.
    """
    bigrams, n_states, is_state = index.bigrams, counts.n_states, counts.is_state
    start, end, moves, _ = index.probabilities(counts, smoothing).events
    words, tag = counts.events.words, index.tokens.tag
    by_tag = np.zeros_like(start)
    np.add.at(by_tag, tag, words)
    p_state = by_tag / by_tag.sum(axis=1, keepdims=True)
    mass = start.sum(axis=1, keepdims=True)
    initial = bigrams.begin[:, None] * np.where(mass > 0, start / np.maximum(mass, 1e-300), p_state)
    stay = 1 - bigrams.escape
    end_share = 1 - bigrams.share.sum()
    final = stay[:, None] * end + (bigrams.escape * end_share)[:, None]
    matrices = [
        stay[a] * moves[i, : n_states[a], : n_states[b]] for i, (a, b) in enumerate(bigrams.pairs.tolist())
    ]
    z = words / np.where(p_state > 0, p_state, 1.0)[tag]
    lexicon, _ = LexiconMaker(index.tokens, lexicon_options).make(n_states, z)
    return RefinedMarkov(
        tags=index.table.tags,
        n_states=n_states,
        n_lexical=n_states,
        tied=True,
        initial=initial[is_state],
        final=final[is_state],
        leaving=np.repeat(bigrams.escape, n_states),
        arriving=(bigrams.share[:, None] * p_state)[is_state],
        pairs=bigrams.pairs,
        transitions=end_to_end(matrices),
        lexicon=lexicon,
    )
