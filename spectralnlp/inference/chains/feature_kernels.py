"""Kernel that hashes the forms of words (prefixes, suffixes, shape) for features of taggers."""

from __future__ import annotations

import numpy as np

from spectralnlp.jit import kernel

# Columns of word forms, in the order of `word_forms.FORMS`.
N_PREFIXES, N_SUFFIXES = 4, 5
_PREFIX, _SUFFIX = 3, 3 + N_PREFIXES
_FLAGS = _SUFFIX + N_SUFFIXES
# Character classes; each OTHER character, or character beyond the table, counts as its own class.
OTHER, UPPER, LOWER, DIGIT = 0, 1, 2, 3
_START, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_GOLDEN, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)
_YES = np.uint64(1)
# Slots of `templates`: the words around a token, the token if it begins the sentence, the token if not.
N_OFFSETS, FIRST, INNER = 5, 5, 6


@kernel
def _mixed(value):
    value = (value ^ (value >> _SHIFT)) * _GOLDEN
    return value ^ (value >> _SHIFT)


@kernel
def hash_forms(low, low_bounds, cased, cased_bounds, table, hashes):
    """Compute hashes of the forms of words (the word, its prefixes, suffixes, shape and flags).

    Args:
        low: uint32; characters of all words, lowercased and concatenated.
        low_bounds: int64 (n_words + 1,); start of each word in ``low``.
        cased, cased_bounds: characters and starts of the words in their original case.
        table: uint8; character class of each code point that is less than the length of the table.
        hashes: uint64 (n_words, n_forms); output, initially zeros. A form that a word lacks stays 0.
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
