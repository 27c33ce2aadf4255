"""Multi-word features of a token: pairs of words, and n-grams of word clusters.

Unlike single-word features, their scores cannot be summed once per word. The columns of their keys are: the
word and the previous word; the word and the next word; and, if words have clusters, the cluster trigrams that
end at, surround and start at the token, then the word with the cluster of the previous word, of the next
word, of both, of the next two words, and of the previous two words.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.templates import GOLDEN, MIX, SHIFT
from spectralnlp.inference.chains.word_table import Encoded, WordTable
from spectralnlp.jit import kernel, kernel_part

Keys = NDArray[np.uint32]

N_PAIRS, N_JOINT = 2, 10
_FIRST_WITH_WORD = 5  # first column with both a word and clusters
_TEMPLATE = 1000  # first template number; those of single-word features are smaller


def joint_keys(table: WordTable, encoded: Encoded) -> Keys:
    """Return the keys of the multi-word features of each token.

    Args:
        table: hashes and clusters of the words.
        encoded: sentences, encoded as word ids.

    Returns:
        uint32 (n_tokens, `N_JOINT`); (n_tokens, `N_PAIRS`) if words have no clusters.
    """
    n_columns = N_JOINT if table.features.sources else N_PAIRS
    keys = np.empty((int(encoded.starts[-1]), n_columns), np.uint32)
    words = np.ascontiguousarray(table.hashes[:, 0])
    write_joint_keys(encoded.types, encoded.starts, words, table.clusters, keys)
    return keys


@kernel_part
def _key(value, column):
    """Return the 32-bit key of a feature, a hash of its value and its column that is never 0."""
    mixed = (value ^ (np.uint64(_TEMPLATE + column + 1) * GOLDEN)) * MIX
    mixed = ((mixed ^ (mixed >> SHIFT)) * GOLDEN) >> SHIFT
    return np.uint32(max(mixed, np.uint64(1)))


@kernel_part
def _joined(value, number):
    return (value ^ np.uint64(number + 2)) * GOLDEN


@kernel
def write_joint_keys(types, starts, words, clusters, keys):
    """Compute the keys of the multi-word features of each token, and write them to ``keys``.

    Args:
        types: int32 (n_tokens + 4 · n_sentences,); word ids, with two padding ids on each side of a sentence.
        starts: int64 (n_sentences + 1,); first token of each sentence.
        words: uint64 (n_types,); hashes of the words.
        clusters: int32 (n_types,); clusters of the words, -1 for none.
        keys: uint32 (n_tokens, 10), or (n_tokens, 2) if words have no clusters; output.
    """
    for s in range(len(starts) - 1):
        for t in range(starts[s], starts[s + 1]):
            at = t + 4 * s + 2
            word, row = words[types[at]], keys[t]
            row[0] = _key((words[types[at - 1]] * MIX) ^ word, 0)
            row[1] = _key((word * MIX) ^ words[types[at + 1]], 1)
            if len(row) == N_PAIRS:
                continue
            before2, before = clusters[types[at - 2]], clusters[types[at - 1]]
            after, after2 = clusters[types[at + 1]], clusters[types[at + 2]]
            current = _joined(GOLDEN, clusters[types[at]])
            named = word * MIX
            row[2] = _key(_joined(_joined(current, before), before2), 2)
            row[3] = _key(_joined(_joined(current, after), before), 3)
            row[4] = _key(_joined(_joined(current, after), after2), 4)
            row[5] = _key(_joined(named, before), 5)
            row[6] = _key(_joined(named, after), 6)
            row[7] = _key(_joined(_joined(named, before), after), 7)
            row[8] = _key(_joined(_joined(named, after), after2), 8)
            row[9] = _key(_joined(_joined(named, before), before2), 9)


@kernel
def is_forgotten(dropped, at, column):
    """Return whether a multi-word feature contains a word that word dropout treats as unknown in training.

    Args:
        dropped: bool; whether the word at each position is treated as unknown.
        at: position of the token.
        column: column of `joint_keys`.
    """
    if column < N_PAIRS:
        return dropped[at] or dropped[at - 1 + 2 * column]
    return column >= _FIRST_WITH_WORD and dropped[at]


def key_slots(keys: Keys) -> NDArray[np.uint32]:
    """Return a hash table in which `look_up` finds the positions of keys.

    Args:
        keys: uint32 (n,); distinct and nonzero.

    Returns:
        uint32 (n_slots, 2), n_slots a power of two; each row is a key and its position in ``keys``, or zeros
        if the slot is empty.
    """
    slots = np.zeros((1 << max(1, 2 * len(keys) - 1).bit_length(), 2), np.uint32)
    _fill(keys, slots)
    return slots


@kernel
def _fill(keys, slots):
    mask = len(slots) - 1
    for i in range(len(keys)):
        at = keys[i] & mask
        while slots[at, 0] != 0:
            at = (at + 1) & mask
        slots[at, 0] = keys[i]
        slots[at, 1] = i


def look_up(keys: Keys, slots: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return the positions of keys, int32 of the shape of ``keys``; -1 for unknown keys.

    Args:
        keys: uint32 (n, m); 0 for no key.
        slots: hash table from `key_slots`.
    """
    rows = np.empty(keys.shape, np.int32)
    _find(keys, slots, rows)
    return rows


@kernel
def _find(keys: Any, slots: Any, rows: Any) -> None:
    mask = len(slots) - 1
    for t in range(len(keys)):
        for column in range(keys.shape[1]):
            key = keys[t, column]
            at = key & mask
            while slots[at, 0] != 0 and slots[at, 0] != key:
                at = (at + 1) & mask
            is_known = key != 0 and slots[at, 0] == key
            rows[t, column] = np.int32(slots[at, 1]) if is_known else -1
