"""Refinement hidden Markov models: the posterior of every tag of every token, exactly.

The forward and the backward pass carry, for each tag that a token may have, a vector over the tag's states,
scaled at every step. Sums over the states come out the same in any basis of them; spectral parameters can
make them negative by sampling error, so posteriors are absolute values, normalised.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.lexical import Lookup
from spectralnlp.jit import fast_kernel
from spectralnlp.parameters import Floats, RefinedMarkov


@dataclass(frozen=True)
class TagPosteriors:
    """What a model says of one sentence.

    Attributes:
        posteriors: float64 (n_tokens, n_tags); rows sum to one, but for rows of zeros, where sampling error
            has cancelled everything.
        log_probability: natural logarithm of the words' probability; minus infinity where it came out
            negative or zero.
    """

    posteriors: Floats
    log_probability: float


def tag_posteriors(
    model: RefinedMarkov, found: Lookup, allowed: NDArray[np.bool_] | None = None
) -> TagPosteriors:
    """Posteriors of tags, refinements and all other tags summed out.

    Args:
        model: the model.
        found: the tokens in its lexicon; at least one.
        allowed: bool (n_tokens, n_tags); the tags that each token may have, None for all. With one tag a
            token the probability is that of words and tags.
    """
    lexicon, shape = model.lexicon, (len(found.entries), len(model.tags))
    first, tag, said, at_said = _candidates(
        found.entries, found.signatures, np.ones(shape, np.bool_) if allowed is None else allowed,
        lexicon.starts, lexicon.tags, lexicon.offsets, lexicon.values, lexicon.backoff,
    )  # fmt: skip
    chain = (
        model.tied, model.n_states, model.state_offsets, model.joint_offsets, model.leaving, model.arriving,
        model.pair_index, model.transitions.offsets, model.transitions.values,
    )  # fmt: skip
    joint, at_joint, logarithm = _forward(first, tag, said, at_said, model.initial, *chain)
    posteriors = np.zeros(shape)
    total = _backward(first, tag, said, at_said, joint, at_joint, model.final, posteriors, *chain)
    if not 0.0 < total < np.inf:
        return TagPosteriors(posteriors, -np.inf)
    return TagPosteriors(posteriors, float(np.log(total) + logarithm) + found.log_weight)


@fast_kernel
def _candidates(entries, signatures, allowed, starts, tags, offsets, values, backoff):
    """The tags that each token may have, and what its word says of their states.

    Candidates ``first[i]`` to ``first[i + 1]`` are token i's: their tags, and their lexical vectors laid end
    to end, vector c from ``at[c]``.
    """
    n, size, width = len(entries), 0, 0
    for i in range(n):
        for entry in (entries[i], signatures[i]):
            size += starts[entry + 1] - starts[entry]
            width += offsets[starts[entry + 1]] - offsets[starts[entry]]
    first, at = np.zeros(n + 1, np.int64), np.zeros(size + 1, np.int64)
    tag, said = np.empty(size, np.int64), np.empty(width)
    seen = np.full(allowed.shape[1], -1, np.int64)
    c = 0
    for i in range(n):
        for which in range(2):
            entry, weight = entries[i], 1.0
            if which == 1:
                if entry == signatures[i] or backoff[entry] <= 0.0:
                    break
                entry, weight = signatures[i], backoff[entry]
            for row in range(starts[entry], starts[entry + 1]):
                if seen[tags[row]] == i or not allowed[i, tags[row]]:
                    continue
                seen[tags[row]] = i
                tag[c] = tags[row]
                at[c + 1] = at[c] + offsets[row + 1] - offsets[row]
                for x in range(offsets[row + 1] - offsets[row]):
                    said[at[c] + x] = weight * values[offsets[row] + x]
                c += 1
        first[i + 1] = c
    return first, tag[:c], said, at[: c + 1]


@fast_kernel
def _forward(
    first, tag, said, at_said, initial,
    tied, n_states, state_offsets, joint_offsets, leaving, arriving, pair_index, matrix_offsets, matrices,
):  # fmt: skip
    """The joints of all candidates, where each begins, and the logarithm of what they were divided by."""
    at_joint = np.zeros(len(tag) + 1, np.int64)
    for c in range(len(tag)):
        at_joint[c + 1] = at_joint[c] + joint_offsets[tag[c] + 1] - joint_offsets[tag[c]]
    joint = np.zeros(at_joint[-1])
    state = np.empty(n_states.max())
    logarithm = 0.0
    for i in range(len(first) - 1):
        shared = 0.0
        if i > 0:
            for p in range(first[i - 1], first[i]):
                for j in range(at_joint[p + 1] - at_joint[p]):
                    shared += joint[at_joint[p] + j] * leaving[joint_offsets[tag[p]] + j]
        for c in range(first[i], first[i + 1]):
            m, start = n_states[tag[c]], state_offsets[tag[c]]
            for h in range(m):
                state[h] = initial[start + h] if i == 0 else shared * arriving[start + h]
            if i > 0:
                for p in range(first[i - 1], first[i]):
                    pair = pair_index[tag[p], tag[c]]
                    if pair >= 0:
                        own = joint[at_joint[p] : at_joint[p + 1]]
                        matrix = matrices[matrix_offsets[pair] : matrix_offsets[pair + 1]].reshape(
                            len(own), m
                        )
                        for j in range(len(own)):
                            for h in range(m):
                                state[h] += own[j] * matrix[j, h]
            k = at_said[c + 1] - at_said[c]
            for h in range(m):
                if tied:
                    joint[at_joint[c] + h] = state[h] * said[at_said[c] + h]
                else:
                    for x in range(k):
                        joint[at_joint[c] + h * k + x] = state[h] * said[at_said[c] + x]
        logarithm += _scale(joint[at_joint[first[i]] : at_joint[first[i + 1]]])
    return joint, at_joint, logarithm


@fast_kernel
def _backward(
    first, tag, said, at_said, joint, at_joint, final, posteriors,
    tied, n_states, state_offsets, joint_offsets, leaving, arriving, pair_index, matrix_offsets, matrices,
):  # fmt: skip
    """Fills in the posteriors; returns the probability of the whole, less what joints were divided by."""
    m_max = n_states.max()
    after = np.zeros((len(pair_index), m_max))  # of the next token's candidates, by tag
    value = np.empty((len(pair_index), m_max))
    beyond = np.empty((joint_offsets[1:] - joint_offsets[:-1]).max())
    n, total = len(first) - 1, 0.0
    for i in range(n - 1, -1, -1):
        shared = 0.0
        if i < n - 1:
            for b in range(first[i + 1], first[i + 2]):
                for h in range(n_states[tag[b]]):
                    shared += arriving[state_offsets[tag[b]] + h] * after[tag[b], h]
        mass, largest = 0.0, 0.0
        for c in range(first[i], first[i + 1]):
            a, width = tag[c], at_joint[c + 1] - at_joint[c]
            for j in range(width):
                place = joint_offsets[a] + j
                beyond[j] = final[place] if i == n - 1 else shared * leaving[place]
            if i < n - 1:
                for b in range(first[i + 1], first[i + 2]):
                    pair, m = pair_index[a, tag[b]], n_states[tag[b]]
                    if pair >= 0:
                        matrix = matrices[matrix_offsets[pair] : matrix_offsets[pair + 1]].reshape(width, m)
                        ahead = after[tag[b]]
                        for j in range(width):
                            inner = 0.0
                            for h in range(m):
                                inner += matrix[j, h] * ahead[h]
                            beyond[j] += inner
            posterior = 0.0
            for j in range(width):
                posterior += joint[at_joint[c] + j] * beyond[j]
            if i == n - 1:
                total += posterior
            posteriors[i, a] = abs(posterior)
            mass += abs(posterior)
            k = at_said[c + 1] - at_said[c]
            for h in range(n_states[a]):
                inner = 0.0
                if tied:
                    inner = said[at_said[c] + h] * beyond[h]
                else:
                    for x in range(k):
                        inner += said[at_said[c] + x] * beyond[h * k + x]
                value[a, h] = inner
                largest = max(largest, abs(inner))
        scale = largest if 0.0 < largest < np.inf else 1.0
        for c in range(first[i], first[i + 1]):
            a = tag[c]
            for h in range(n_states[a]):
                after[a, h] = value[a, h] / scale
            posteriors[i, a] = posteriors[i, a] / mass if 0.0 < mass < np.inf else 0.0
    return total


@fast_kernel
def _scale(vector):
    """Divide by the largest entry; gives its natural logarithm."""
    largest = 0.0
    for value in vector:
        largest = max(largest, abs(value))
    if not 0.0 < largest < np.inf:
        return 0.0
    for i in range(len(vector)):
        vector[i] /= largest
    return np.log(largest)
