"""The E-step of refinement HMMs on tagged sentences, where tags are observed and refinements latent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spectralnlp.jit import fast_kernel
from spectralnlp.parameters import Floats, Ints


class StateCounts(NamedTuple):
    """Expected counts, or probabilities, of sentence starts and ends, transitions and words, by latent state.

    Arrays are padded with zeros from each tag's number of states to the largest, m.

    Attributes:
        starts, ends: float64 (n_tags, m); states of the first and last tokens of sentences.
        moves: float64 (n_pairs, m, m); transitions from a token's state to the next token's, by tag pair.
        words: float64 (n_word_tags, m); states of tokens, by pair of word and tag.
    """

    starts: Floats
    ends: Floats
    moves: Floats
    words: Floats


def expected_state_counts(
    tag: Ints, pair: Ints, word: Ints, weight: Floats, probabilities: StateCounts
) -> tuple[StateCounts, float]:
    """Return expected counts of states, and the natural log-likelihood of words and tags.

    Args:
        tag: int32 (n_tokens,); tag of each token.
        pair: int32 (n_tokens,); index of the pair of tags of the token and the next one, -1 at sentence ends.
        word: int32 (n_tokens,); index of the token's pair of word and tag.
        weight: float64 (n_tokens,); weight of each token.
        probabilities: present probabilities of starts, ends, transitions and words.
    """
    counts = StateCounts(*(np.zeros_like(block) for block in probabilities))
    logarithm = _add_expected(tag, pair, word, weight, probabilities, counts)
    return counts, float(logarithm)


@fast_kernel
def _add_expected(tag, pair, word, weight, probabilities, counts):
    """Add the expected counts of all sentences to ``counts``, and return the log-likelihood."""
    initial, final = probabilities.starts, probabilities.ends
    moves, words = probabilities.moves, probabilities.words
    start_counts, end_counts, move_counts, word_counts = (
        counts.starts,
        counts.ends,
        counts.moves,
        counts.words,
    )
    n, m = len(tag), words.shape[1]
    forward, scale = np.zeros((n, m)), np.empty(n)
    backward, gathered = np.zeros(m), np.zeros(m)
    logarithm, begins = 0.0, True
    for i in range(n):
        total = 0.0
        for h in range(m):
            value = 0.0
            if begins:
                value = initial[tag[i], h]
            else:
                for g in range(m):
                    value += forward[i - 1, g] * moves[pair[i - 1], g, h]
            forward[i, h] = value * words[word[i], h]
            total += forward[i, h]
        scale[i] = max(total, 1e-300)
        for h in range(m):
            forward[i, h] /= scale[i]
        logarithm += weight[i] * np.log(scale[i])
        begins = pair[i] < 0
    for i in range(n - 1, -1, -1):
        # backward: weight of the rest given the state of token i, scaled so that forward · backward = 1.
        if pair[i] < 0:
            ended = 0.0
            for h in range(m):
                ended += forward[i, h] * final[tag[i], h]
            ended = max(ended, 1e-300)
            logarithm += weight[i] * np.log(ended)
            for h in range(m):
                backward[h] = final[tag[i], h] / ended
                end_counts[tag[i], h] += weight[i] * forward[i, h] * backward[h]
        for h in range(m):
            word_counts[word[i], h] += weight[i] * forward[i, h] * backward[h]
        if i == 0 or pair[i - 1] < 0:
            for h in range(m):
                start_counts[tag[i], h] += weight[i] * forward[i, h] * backward[h]
            continue
        p = pair[i - 1]
        for h in range(m):
            gathered[h] = words[word[i], h] * backward[h] / scale[i]
        for g in range(m):
            value = 0.0
            for h in range(m):
                step = moves[p, g, h] * gathered[h]
                move_counts[p, g, h] += weight[i] * forward[i - 1, g] * step
                value += step
            backward[g] = value
    return logarithm
