"""Refinements that are counted: hard or soft states of the tokens of tagged sentences.

Parameters are probabilities. States come from clusters of the projected tokens (Narayan and Cohen 2015,
section 3), or from noise, as EM's usual start (Matsuzaki et al. 2005). EM on the tagged sentences softens
them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.estimators.rhmm.taglog import TagTable
from spectralnlp.estimators.rhmm.tensors import TagBigrams, end_to_end, token_moments
from spectralnlp.estimators.shared.lexicon import LexiconOptions, TokenMoments, build_lexicon
from spectralnlp.inference.chains.refined_em import StateCounts, expected_state_counts
from spectralnlp.parameters import Floats, Ints, RefinedMarkov
from spectralnlp.text.signatures import signature_by_name


@dataclass(frozen=True)
class Skeleton:
    """Which events the tokens of a table are.

    Attributes:
        table: the tokens.
        bigrams: how its tags follow one another.
        tokens: counts of each (word, tag).
        pair: int32 (n_tokens,); row of ``bigrams.pairs`` with the next token, -1 at the end of a sentence.
        word: int32 (n_tokens,); row of ``tokens``.
    """

    table: TagTable
    bigrams: TagBigrams
    tokens: TokenMoments
    pair: Ints
    word: Ints

    @classmethod
    def of(cls, table: TagTable, bigrams: TagBigrams) -> Skeleton:
        """Number the events."""
        n_tags, inner = len(table.tags), np.flatnonzero(~table.last)
        pair = np.full(table.n_tokens, -1, np.int32)
        pair[inner] = np.searchsorted(
            bigrams.pairs[:, 0].astype(np.int64) * n_tags + bigrams.pairs[:, 1],
            table.tag[inner].astype(np.int64) * n_tags + table.tag[inner + 1],
        )
        tokens = token_moments(table, np.ones((table.n_tokens, 1)))
        word = np.searchsorted(
            tokens.word.astype(np.int64) * n_tags + tokens.tag,
            table.word.astype(np.int64) * n_tags + table.tag,
        )
        return cls(table, bigrams, tokens, pair, word.astype(np.int32))


def count_states(skeleton: Skeleton, state: Ints, n_states: Ints) -> StateCounts:
    """Counts of starts, ends, moves and words with one state a token.

    Args:
        skeleton: the tokens.
        state: int32 (n_tokens,).
        n_states: int32 (n_tags,).
    """
    table, m = skeleton.table, int(n_states.max())
    last, first = table.last, table.first
    inner = np.flatnonzero(~last)
    n_tags, n_pairs, n_words = len(table.tags), len(skeleton.bigrams.pairs), len(skeleton.tokens.word)

    def count(rows: np.ndarray, code: np.ndarray, shape: tuple[int, ...]) -> Floats:
        total = np.bincount(code, table.weight[rows], int(np.prod(shape)))
        return total.reshape(shape).astype(np.float64)

    moved = (skeleton.pair[inner].astype(np.int64) * m + state[inner]) * m + state[inner + 1]
    by_tag = table.tag.astype(np.int64) * m + state
    every = np.arange(table.n_tokens)
    return StateCounts(
        count(every[first], by_tag[first], (n_tags, m)),
        count(every[last], by_tag[last], (n_tags, m)),
        count(inner, moved, (n_pairs, m, m)),
        count(every, skeleton.word.astype(np.int64) * m + state, (n_words, m)),
    )


def random_counts(skeleton: Skeleton, n_states: Ints, *, noise: float, random_state: int) -> StateCounts:
    """Each event's count shared evenly among its states but for noise, a factor uniform in 1 ± noise."""
    rng = np.random.default_rng(random_state)
    start, end, moves, words = count_states(skeleton, np.zeros(skeleton.table.n_tokens, np.int32), n_states)
    own = np.arange(start.shape[1]) < n_states[:, None]
    before, after = own[skeleton.bigrams.pairs[:, 0]], own[skeleton.bigrams.pairs[:, 1]]

    def shared(count: Floats, allowed: np.ndarray) -> Floats:
        axes = tuple(range(1, allowed.ndim))
        totals = count.sum(axis=axes, keepdims=True) / allowed.sum(axis=axes, keepdims=True)
        return np.where(allowed, totals * rng.uniform(1 - noise, 1 + noise, allowed.shape), 0.0)

    return StateCounts(
        shared(start, own),
        shared(end, own),
        shared(moves, before[:, :, None] & after[:, None, :]),
        shared(words, own[skeleton.tokens.tag]),
    )


def probabilities(skeleton: Skeleton, counts: StateCounts, n_states: Ints, smoothing: float) -> StateCounts:
    """p(event | tag, state), each state's mixed with the mean over the states of its tag.

    Args:
        skeleton: the tokens.
        counts: of events.
        n_states: int32 (n_tags,).
        smoothing: α; weight of the mean, in [0, 1].
    """
    start, end, moves, words = counts
    before, of_word = skeleton.bigrams.pairs[:, 0], skeleton.tokens.tag
    own = np.arange(start.shape[1]) < n_states[:, None]

    def mixed(block: Floats, total: Floats, tag: Ints | slice) -> Floats:
        shape = (*total[tag].shape, *(1,) * (block.ndim - 2))
        share = block / np.maximum(total[tag], 1e-300).reshape(shape)
        mean = share.sum(axis=1, keepdims=True) / n_states[tag].reshape(-1, *(1,) * (block.ndim - 1))
        return np.where(own[tag].reshape(shape), (1 - smoothing) * share + smoothing * mean, 0.0)

    followed, spoken = end.copy(), np.zeros_like(end)
    np.add.at(followed, before, moves.sum(axis=2))
    np.add.at(spoken, of_word, words)
    everything = slice(None)
    return StateCounts(
        start / start.sum(),
        mixed(end, followed, everything),
        mixed(moves, followed, before),
        mixed(words, spoken, of_word),
    )


def em_step(skeleton: Skeleton, parameters: StateCounts) -> tuple[StateCounts, float]:
    """Expected counts, and the log-likelihood (natural) under the parameters."""
    table = skeleton.table
    return expected_state_counts(table.tag, skeleton.pair, skeleton.word, table.weight, parameters)


def polish(
    skeleton: Skeleton,
    counts: StateCounts,
    n_states: Ints,
    iterations: int,
    *,
    first: float,
    smoothing: float,
) -> StateCounts:
    """Counts after some iterations of EM.

    Args:
        skeleton: the tokens.
        counts: to start from.
        n_states: int32 (n_tags,).
        iterations: none gives the counts back.
        first: α of the probabilities that it starts from.
        smoothing: α between iterations.
    """
    for _ in range(iterations):
        counts, _ = em_step(skeleton, probabilities(skeleton, counts, n_states, first))
        first = smoothing
    return counts


def state_model(
    skeleton: Skeleton,
    counts: StateCounts,
    n_states: Ints,
    smoothing: float,
    scheme: str,
    options: LexiconOptions,
) -> RefinedMarkov:
    """The model of (expected) counts.

    Args:
        skeleton: the tokens.
        counts: of events.
        n_states: int32 (n_tags,).
        smoothing: α of `probabilities`.
        scheme: name of the signature function.
        options: smoothing of the lexicon.
    """
    bigrams, table = skeleton.bigrams, skeleton.table
    start, end, moves, _ = probabilities(skeleton, counts, n_states, smoothing)
    m = start.shape[1]
    own = np.arange(m) < n_states[:, None]
    by_tag = np.zeros_like(start)
    np.add.at(by_tag, skeleton.tokens.tag, counts.words)
    p_state = by_tag / by_tag.sum(axis=1, keepdims=True)
    mass = np.maximum(start.sum(axis=1, keepdims=True), 1e-300)
    initial = bigrams.begin[:, None] * np.where(start.sum(axis=1, keepdims=True) > 0, start / mass, p_state)
    stay = 1 - bigrams.escape
    end_share = 1 - bigrams.share.sum()
    final = stay[:, None] * end + (bigrams.escape * end_share)[:, None]
    matrices = [
        stay[a] * moves[i, : n_states[a], : n_states[b]] for i, (a, b) in enumerate(bigrams.pairs.tolist())
    ]
    z = counts.words / np.where(p_state > 0, p_state, 1.0)[skeleton.tokens.tag]
    tokens = TokenMoments(
        skeleton.tokens.words, skeleton.tokens.word, skeleton.tokens.tag, skeleton.tokens.count,
        skeleton.tokens.initial, z,
    )  # fmt: skip
    lexicon, _ = build_lexicon(tokens, n_states, scheme, signature_by_name(scheme), options)
    return RefinedMarkov(
        tags=table.tags,
        n_states=n_states,
        n_lexical=n_states,
        tied=True,
        initial=initial[own],
        final=final[own],
        leaving=np.repeat(bigrams.escape, n_states),
        arriving=(bigrams.share[:, None] * p_state)[own],
        pairs=bigrams.pairs,
        transitions=end_to_end(matrices),
        lexicon=lexicon,
    )
