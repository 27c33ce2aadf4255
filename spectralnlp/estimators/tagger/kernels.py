"""Kernels of the tagger: forms of words, vectors of contexts, and the perceptron's epoch."""

from __future__ import annotations

import numpy as np

from spectralnlp.inference.chains.linear import viterbi
from spectralnlp.jit import fast_kernel, kernel

# Forms of words, in the columns of `forms.FORMS`.
N_PREFIXES, N_SUFFIXES = 4, 5
_PREFIX, _SUFFIX = 3, 3 + N_PREFIXES
_FLAGS = _SUFFIX + N_SUFFIXES

# Classes of characters; the class of a character beyond the table is itself.
OTHER, UPPER, LOWER, DIGIT = 0, 1, 2, 3

_START, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_GOLDEN, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_YES = np.uint64(1)

# Slots of `templates`: the words around, then the word itself if it begins the sentence, or if not.
N_OFFSETS, FIRST, INNER = 5, 5, 6


@kernel
def _mixed(value):
    value = (value ^ (value >> _SHIFT)) * _GOLDEN
    return value ^ (value >> _SHIFT)


@kernel
def hash_forms(low, low_bounds, cased, cased_bounds, table, hashes):
    """Hash the forms of words.

    Args:
        low: uint32; characters of all words in small letters.
        low_bounds: int64 (n_words + 1,); where each word's begin.
        cased, cased_bounds: the same of the words as they are.
        table: uint8; classes of characters.
        hashes: uint64 (n_words, n_forms), zeros; written.
    """
    for w in range(len(hashes)):
        first, end = low_bounds[w], low_bounds[w + 1]
        value = _START
        for i in range(first, end):
            value = (value ^ np.uint64(low[i])) * _PRIME
            if i - first < N_PREFIXES:
                hashes[w, _PREFIX + i - first] = _mixed(value)
        hashes[w, 0] = _mixed(value)
        value = _START
        suffix3 = _START
        for i in range(min(N_SUFFIXES, end - first)):
            value = (value ^ np.uint64(low[end - 1 - i])) * _PRIME
            hashes[w, _SUFFIX + i] = _mixed(value)
            if i < 3:
                suffix3 = value
        value = shape = _START
        last, digits, hyphens, capitals, smalls = np.uint64(0), 0, 0, 0, 0
        for i in range(cased_bounds[w], cased_bounds[w + 1]):
            character = cased[i]
            value = (value ^ np.uint64(character)) * _PRIME
            group = table[character] if character < len(table) else OTHER
            digits += group == DIGIT
            hyphens += character == 45
            capitals += group == UPPER
            smalls += group == LOWER
            mark = np.uint64(character) + np.uint64(4) if group == OTHER else np.uint64(group)
            if mark != last:  # runs count as one
                shape = (shape ^ mark) * _PRIME
                last = mark
        hashes[w, 1] = _mixed(value)
        hashes[w, 2] = _mixed(shape)
        begins = cased_bounds[w] < cased_bounds[w + 1] and cased[cased_bounds[w]] < len(table)
        flags = (
            digits > 0,
            hyphens > 0,
            begins and table[cased[cased_bounds[w]]] == UPPER,
            capitals > 0 and smalls == 0,
        )
        for f in range(4):
            if flags[f]:
                hashes[w, _FLAGS + f] = _YES
        hashes[w, _FLAGS + 4] = _mixed(shape ^ (suffix3 * _GOLDEN))
        hashes[w, _FLAGS + 5] = _YES


@kernel
def add_contexts(types, starts, place, offsets, block_of, context_vectors, out):
    """Sum the vectors of the words around each token, and scale the sum to length 1.

    Args:
        types: int32 (n_tokens + 4 · n_sentences,).
        starts: int64 (n_sentences + 1,).
        place: int32 (n_types,); numbers of words among contexts, -1 for none.
        offsets, block_of: int64 (n_offsets,); positions around a token, and the block of each.
        context_vectors: float32 (n_blocks, n_contexts, k).
        out: float32 (n_tokens, k), zeros; written.
    """
    k = out.shape[1]
    for s in range(len(starts) - 1):
        base = starts[s] + 4 * s + 2
        for t in range(starts[s + 1] - starts[s]):
            state = out[starts[s] + t]
            n = starts[s + 1] - starts[s]
            for o in range(len(offsets)):
                at = t + offsets[o]
                if at < -1 or at > n:
                    continue
                number = place[types[base + at]]
                if number >= 0:
                    for j in range(k):
                        state[j] += context_vectors[block_of[o], number, j]
            square = np.float32(0.0)
            for j in range(k):
                square += state[j] * state[j]
            if square > 0:
                length = np.sqrt(square)
                for j in range(k):
                    state[j] /= length


@fast_kernel
def _add_rows(row_starts, rows, at, features, scores):
    for i in range(row_starts[at], row_starts[at + 1]):
        row = features[rows[i]]
        for y in range(len(scores)):
            scores[y] += row[y]


@fast_kernel
def _add_dense(vector, weights, scores):
    for j in range(len(vector)):
        for y in range(len(scores)):
            scores[y] += vector[j] * weights[j, y]


@fast_kernel
def score_sentence(
    s, types, starts, row_starts, rows, pairs, words, tokens, features, word_weights, token_weights, emissions
):
    """Scores of tags of the tokens of sentence ``s``, by `Examples` and weights; ``emissions`` is written."""
    first, n = starts[s], starts[s + 1] - starts[s]
    base = first + 4 * s + 2
    n_types = len(words)
    for t in range(n):
        scores = emissions[t]
        for y in range(len(scores)):
            scores[y] = 0.0
        for o in range(N_OFFSETS):
            word = types[base + t + o - 2]
            _add_rows(row_starts, rows, o * n_types + word, features, scores)
            _add_dense(words[word], word_weights[o], scores)
        own = (FIRST if t == 0 else INNER) * n_types + types[base + t]
        _add_rows(row_starts, rows, own, features, scores)
        for p in range(pairs.shape[1]):
            if pairs[first + t, p] >= 0:
                row = features[pairs[first + t, p]]
                for y in range(len(scores)):
                    scores[y] += row[y]
        _add_dense(tokens[first + t], token_weights, scores)


@kernel
def _change(weights, changes, at, gold, found, amount, time):
    weights[at, gold] += amount
    weights[at, found] -= amount
    changes[at, gold] += amount * time
    changes[at, found] -= amount * time


@kernel
def _change_rows(row_starts, rows, at, features, changes, gold, found, time):
    for i in range(row_starts[at], row_starts[at + 1]):
        _change(features, changes, rows[i], gold, found, 1.0, time)


@kernel
def _change_dense(vector, weights, changes, gold, found, time):
    for j in range(len(vector)):
        _change(weights, changes, j, gold, found, vector[j], time)


@kernel
def perceptron_epoch(
    order, types, starts, tags, row_starts, rows, pairs, words, tokens,
    features, word_weights, token_weights, transitions, start, end,
    d_features, d_words, d_tokens, d_transitions, d_start, d_end,
    no_transition, no_start, no_end, emissions, time,
):  # fmt: skip
    """Tag each sentence of ``order``; where a tag is wrong, change weights, and note changes times the time.

    Returns:
        The time, and the number of wrong tags.
    """
    k = len(start)
    n_types = len(words)
    best = np.empty((2, k), np.float32)
    back = np.empty((len(emissions), k), np.int32)
    found = np.empty(len(emissions), np.int32)
    into = np.empty((k, k), np.float32)
    wrong = 0
    for s in order:
        first, n = starts[s], starts[s + 1] - starts[s]
        base = first + 4 * s + 2
        score_sentence(
            s, types, starts, row_starts, rows, pairs, words, tokens,
            features, word_weights, token_weights, emissions,
        )  # fmt: skip
        for x in range(k):
            for y in range(k):
                into[y, x] = transitions[x, y] + no_transition[x, y]
        viterbi(emissions[:n], into, start + no_start, end + no_end, best, back, found[:n])
        time += 1
        gold = tags[first : first + n]
        for t in range(n):
            g, f = gold[t], found[t]
            if t > 0 and (g != f or gold[t - 1] != found[t - 1]):
                transitions[gold[t - 1], g] += 1.0
                transitions[found[t - 1], f] -= 1.0
                d_transitions[gold[t - 1], g] += time
                d_transitions[found[t - 1], f] -= time
            if g == f:
                continue
            wrong += 1
            for o in range(N_OFFSETS):
                word = types[base + t + o - 2]
                at = o * n_types + word
                _change_rows(row_starts, rows, at, features, d_features, g, f, time)
                _change_dense(words[word], word_weights[o], d_words[o], g, f, time)
            own = (FIRST if t == 0 else INNER) * n_types + types[base + t]
            _change_rows(row_starts, rows, own, features, d_features, g, f, time)
            for p in range(pairs.shape[1]):
                if pairs[first + t, p] >= 0:
                    _change(features, d_features, pairs[first + t, p], g, f, 1.0, time)
            _change_dense(tokens[first + t], token_weights, d_tokens, g, f, time)
        if gold[0] != found[0]:
            start[gold[0]] += 1.0
            start[found[0]] -= 1.0
            d_start[gold[0]] += time
            d_start[found[0]] -= time
        if gold[n - 1] != found[n - 1]:
            end[gold[n - 1]] += 1.0
            end[found[n - 1]] -= 1.0
            d_end[gold[n - 1]] += time
            d_end[found[n - 1]] -= time
    return time, wrong
