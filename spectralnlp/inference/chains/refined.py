"""Exact posteriors of tags in refinement hidden Markov models, in which each tag has latent states.

The forward and the backward pass keep, for each candidate tag of a token, a vector over the tag's states,
rescaled at every token. Sums over states do not depend on the basis of the state space. With spectral
parameters they can be negative by sampling error, so posteriors are normalised absolute values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.lexical import LexiconRows, Lookup
from spectralnlp.jit import fast_kernel, kernel
from spectralnlp.parameters import Floats, Ints, Offsets, RefinedMarkov

# Value in a model's ``pair_index`` where two tags have no transition matrix.
NO_PAIR = -1


@dataclass(frozen=True)
class TagPosteriors:
    """Posteriors of the tags of one sentence.

    Attributes:
        posteriors: float64 (n_tokens, n_tags); rows sum to one, except for rows of zeros, where no tag has a
            finite non-zero weight.
        log_probability: natural logarithm of the words' probability; minus infinity if the computed
            probability is not positive and finite.
    """

    posteriors: Floats
    log_probability: float


class ChainArrays(NamedTuple):
    """The arrays of a :class:`~spectralnlp.parameters.RefinedMarkov` that the kernels use."""

    tied: bool
    n_states: Ints
    initial: Floats
    final: Floats
    state_offsets: Offsets
    joint_offsets: Offsets
    leaving: Floats
    arriving: Floats
    pair_index: Ints
    matrix_offsets: Offsets
    matrices: Floats

    @classmethod
    def of(cls, model: RefinedMarkov) -> ChainArrays:
        """Return the arrays of a model, without copying them."""
        fields = {name: getattr(model, name) for name in cls._fields[:-2]}
        return cls(**fields, matrix_offsets=model.transitions.offsets, matrices=model.transitions.values)


class Candidates(NamedTuple):
    """Possible tags (candidates) of a sentence's tokens; token i has candidates ``first[i]:first[i + 1]``.

    Attributes:
        first: int64 (n_tokens + 1,); first candidate of each token.
        tag: int64 (n_candidates,); tag of each candidate.
        offsets: int64 (n_candidates + 1,); start of each candidate's lexical vector in ``lexical``.
        lexical: float64; concatenated lexical vectors: the word's weights for the states of a tag.
    """

    first: Offsets
    tag: Offsets
    offsets: Offsets
    lexical: Floats


class Joints(NamedTuple):
    """Forward vectors of the candidate tags of each token, rescaled at every token.

    The vector of a tag has, for each state of the tag, the joint weight of the state and all words up to the
    token, summed over the tags and states of earlier tokens.

    Attributes:
        offsets: int64 (n_candidates + 1,); start of each candidate's vector in ``values``.
        values: float64 (offsets[-1],); the vectors, concatenated.
    """

    offsets: Offsets
    values: Floats


def tag_posteriors(
    model: RefinedMarkov, found: Lookup, allowed: NDArray[np.bool_] | None = None
) -> TagPosteriors:
    """Compute the posteriors of tags, summed over states and over the tags of all other tokens.

    Args:
        model: the model.
        found: lexicon entries of one or more tokens.
        allowed: bool (n_tokens, n_tags); the tags that each token may have, None for all. If each token may
            have a single tag, ``log_probability`` is that of the words together with these tags.
    """
    shape = (len(found.entries), len(model.tags))
    may_have = np.ones(shape, np.bool_) if allowed is None else allowed
    lexicon, chain = _arrays_of(model)
    posteriors = np.zeros(shape)
    total, logarithm = _fill_in(lexicon, chain, found.entries, found.signatures, may_have, posteriors)
    if not 0.0 < total < np.inf:
        return TagPosteriors(posteriors, -np.inf)
    return TagPosteriors(posteriors, float(np.log(total) + logarithm) + found.log_weight)


@lru_cache(maxsize=8)
def _arrays_of(model: RefinedMarkov) -> tuple[LexiconRows, ChainArrays]:
    return LexiconRows.of(model.lexicon), ChainArrays.of(model)


@kernel
def _fill_in(lexicon, chain, entries, signatures, allowed, posteriors):
    """Compute the posteriors of a sentence's tags, and write them to ``posteriors``.

    Args:
        lexicon, entries, signatures, allowed: see `_candidates`.
        chain: `ChainArrays`.
        posteriors: float64 (n_tokens, n_tags); output, initially zeros.

    Returns:
        The sentence's scaled probability, and the natural logarithm of its scale.
    """
    candidates = _candidates(lexicon, entries, signatures, allowed)
    joints, logarithm = _forward(chain, candidates)
    return _backward(chain, candidates, joints, posteriors), logarithm


@fast_kernel
def _candidates(lexicon, entries, signatures, allowed):
    """Return the candidate tags of each token, with their lexical vectors.

    Args:
        lexicon: `LexiconRows`.
        entries, signatures: int64 (n_tokens,); lexicon entries of each token and of its signature.
        allowed: bool (n_tokens, n_tags); the tags that each token may have.
    """
    starts, tags, offsets = lexicon.starts, lexicon.tags, lexicon.offsets
    values, backoff = lexicon.values, lexicon.backoff
    n, size, width = len(entries), 0, 0
    for i in range(n):
        for entry in (entries[i], signatures[i]):
            size += starts[entry + 1] - starts[entry]
            width += offsets[starts[entry + 1]] - offsets[starts[entry]]
    first, at = np.zeros(n + 1, np.int64), np.zeros(size + 1, np.int64)
    tag, lexical = np.empty(size, np.int64), np.empty(width)
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
                    lexical[at[c] + x] = weight * values[offsets[row] + x]
                c += 1
        first[i + 1] = c
    return Candidates(first=first, tag=tag[:c], offsets=at[: c + 1], lexical=lexical)


@fast_kernel
def _forward(chain, candidates):
    """Run the forward pass; return the forward vectors, and the logarithm of their total scale."""
    first, tag, at_lexical, lexical = candidates.first, candidates.tag, candidates.offsets, candidates.lexical
    tied, n_states = chain.tied, chain.n_states
    state_offsets, joint_offsets = chain.state_offsets, chain.joint_offsets
    leaving, arriving, pair_index = chain.leaving, chain.arriving, chain.pair_index
    matrix_offsets, matrices = chain.matrix_offsets, chain.matrices
    initial = chain.initial
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
                    if pair != NO_PAIR:
                        joint_part = joint[at_joint[p] : at_joint[p + 1]]
                        matrix = matrices[matrix_offsets[pair] : matrix_offsets[pair + 1]].reshape(
                            len(joint_part), m
                        )
                        for j in range(len(joint_part)):
                            for h in range(m):
                                state[h] += joint_part[j] * matrix[j, h]
            k = at_lexical[c + 1] - at_lexical[c]
            for h in range(m):
                if tied:
                    joint[at_joint[c] + h] = state[h] * lexical[at_lexical[c] + h]
                else:
                    for x in range(k):
                        joint[at_joint[c] + h * k + x] = state[h] * lexical[at_lexical[c] + x]
        logarithm += _scale(joint[at_joint[first[i]] : at_joint[first[i + 1]]])
    return Joints(at_joint, joint), logarithm


@fast_kernel
def _backward(chain, candidates, joints, posteriors):
    """Run the backward pass, and write the posteriors of tags; return the sentence's scaled probability.

    Args:
        chain: `ChainArrays`.
        candidates: `Candidates`.
        joints: `Joints`; the forward vectors.
        posteriors: float64 (n_tokens, n_tags); output.
    """
    first, tag, at_lexical, lexical = candidates.first, candidates.tag, candidates.offsets, candidates.lexical
    tied, n_states = chain.tied, chain.n_states
    state_offsets, joint_offsets = chain.state_offsets, chain.joint_offsets
    leaving, arriving, pair_index = chain.leaving, chain.arriving, chain.pair_index
    matrix_offsets, matrices = chain.matrix_offsets, chain.matrices
    final, joint, at_joint = chain.final, joints.values, joints.offsets
    m_max = n_states.max()
    after = np.zeros((len(pair_index), m_max))  # backward vectors of the next token's candidates, by tag
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
                    if pair != NO_PAIR:
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
            k = at_lexical[c + 1] - at_lexical[c]
            for h in range(n_states[a]):
                inner = 0.0
                if tied:
                    inner = lexical[at_lexical[c] + h] * beyond[h]
                else:
                    for x in range(k):
                        inner += lexical[at_lexical[c] + x] * beyond[h * k + x]
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
    """Divide a vector by its largest absolute value, in place; return the logarithm of the divisor."""
    largest = 0.0
    for value in vector:
        largest = max(largest, abs(value))
    if not 0.0 < largest < np.inf:
        return 0.0
    for i in range(len(vector)):
        vector[i] /= largest
    return np.log(largest)
