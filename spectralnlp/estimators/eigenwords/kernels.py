"""Kernels that map the words of a text to ids, and count pairs of ids in a hash table.

The key of a pair of words is an integer that consists of their distance, the id of the left word, and the id
of the right word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.kernels import _GOLDEN, _HALF, hash_word
from spectralnlp.jit import kernel

# Key of a pair: distance (5 bits), id of the left word (29 bits), id of the right word (29 bits). 0 marks a
# free slot.
ID_BITS = 29
MAX_WINDOW = 31
ID_MASK = (1 << ID_BITS) - 1

# Number of keys that are looked up at a time.
_BATCH = 64


class InternedWords(NamedTuple):
    """Hash table of words, numbered as they appear; its arrays may grow between calls of `intern_words`.

    Attributes:
        slots: int32 (a power of two,); slots with open addressing: id of a word, or -1 for a free slot.
        letters: uint8; the bytes of all known words, concatenated.
        bounds: int64 (capacity + 1,); start of each word in ``letters``; ``bounds[n_words]`` is the first
            free position.
        hashes: uint64 (capacity,); hash of each word.
        counts: int64 (capacity,); count of each word; at index 0, the number of sentence ends.
    """

    slots: NDArray[np.int32]
    letters: NDArray[np.uint8]
    bounds: NDArray[np.int64]
    hashes: NDArray[np.uint64]
    counts: NDArray[np.int64]


@kernel
def _is_blank(byte):
    return byte == 32 or 8 < byte < 14


@kernel
def _next_word(text, i, ids, n_ids, counts):
    """Find the next word of a text, and write the id 0 for a sentence end before this word.

    Args:
        text: uint8; UTF-8 bytes of the text.
        i: index of the byte to start from.
        ids: int32; ids of the words and sentence ends so far; updated.
        n_ids: number of ids in ``ids``.
        counts: int64; counts of the words; the count of sentence ends, at index 0, is updated.

    Returns:
        (start of the word, end of the word, n_ids); start and end are ``len(text)`` if no word is left.
    """
    while i < len(text) and _is_blank(text[i]):
        if text[i] == 10 and ids[n_ids - 1] != 0:
            ids[n_ids] = 0
            n_ids += 1
            counts[0] += 1
        i += 1
    end = i
    while end < len(text) and not _is_blank(text[end]):
        end += 1
    return i, end, n_ids


@kernel
def intern_words(text, start, known, n_words, ids, n_ids):
    """Map the words of a text to ids by first appearance, and count them.

    Words are separated by ASCII white space; a line feed ends a sentence, which becomes a single id 0.

    Args:
        text: uint8 (n,); UTF-8 bytes that end in a line feed.
        start: position to start from.
        known: `InternedWords`; updated.
        n_words: number of known words, the sentence end included.
        ids: int32; output.
        n_ids: number of ids already in ``ids``; the first must be 0.

    Returns:
        (position of the next byte to read, n_words, n_ids); the position is before the end of the text if an
        array of ``known`` is full and must be enlarged.
    """
    slots, letters, bounds, hashes, counts = known
    mask = len(slots) - 1
    i, end, n_ids = _next_word(text, start, ids, n_ids, counts)
    while i < end:
        value = hash_word(text, i, end)
        slot = np.int64(value) & mask
        while True:
            word = slots[slot]
            if word < 0:
                full = 2 * (n_words + 1) > len(slots) or n_words + 1 >= len(hashes)
                if full or bounds[n_words] + end - i > len(letters):
                    return i, n_words, n_ids
                word = n_words
                slots[slot] = word
                hashes[word] = value
                first = bounds[word]
                _copy(letters, first, text, i, end)
                bounds[word + 1] = first + end - i
                n_words += 1
                break
            if hashes[word] == value and _same(letters, bounds[word], bounds[word + 1], text, i, end):
                break
            slot = (slot + 1) & mask
        counts[word] += 1
        ids[n_ids] = word
        i, end, n_ids = _next_word(text, end, ids, n_ids + 1, counts)
    return i, n_words, n_ids


@kernel
def _copy(letters, first, text, start, end):  # numba takes seconds to compile an assignment of slices
    for i in range(end - start):
        letters[first + i] = text[start + i]


@kernel
def _same(letters, first, last, text, start, end):
    if last - first != end - start:
        return False
    for i in range(end - start):  # noqa: SIM110 (numba has no all() of a generator)
        if letters[first + i] != text[start + i]:
            return False
    return True


@kernel
def fill_slots(slots, hashes, n_words):
    """Insert the ids of words into an empty hash table; the sentence end (id 0) is left out.

    Args:
        slots: int32 (a power of two,); slots of the table, -1 for a free slot; updated.
        hashes: uint64; hash of each word.
        n_words: number of words, the sentence end included.
    """
    mask = len(slots) - 1
    for word in range(1, n_words):
        slot = np.int64(hashes[word]) & mask
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = word


@kernel
def count_pairs(ids, n_ids, start, window, keys, counts, n_pairs, most):
    """Count pairs of words at most ``window`` apart in a sentence; the sentence's ends (0) count as words.

    Args:
        ids: int32; ids of words, sentences separated by zeros.
        n_ids: number of ids.
        start: position of the left word to start from.
        window: largest distance.
        keys: int64 (a power of two,); key of the pair in each slot of a hash table with open addressing, 0
            for a free slot; updated.
        counts: int64; count in each slot; updated.
        n_pairs: number of used slots.
        most: maximum number of used slots.

    Returns:
        (position of the next left word, n_pairs); the position is less than ``n_ids`` if counting stopped
        early, because more than ``most`` slots might have been used.
    """
    batch = np.empty(_BATCH * window, np.int64)
    slots, present, ends = np.empty_like(batch), np.empty_like(batch), np.empty(_BATCH, np.int64)
    for begin in range(start, n_ids, _BATCH):
        end = min(begin + _BATCH, n_ids)
        n_keys = 0
        for i in range(begin, end):
            for distance in range(1, min(window, n_ids - 1 - i) + 1):
                right = ids[i + distance]
                if right or ids[i]:
                    key = (
                        (np.int64(distance) << 2 * ID_BITS) | (np.int64(ids[i]) << ID_BITS) | np.int64(right)
                    )
                    batch[n_keys] = key
                    n_keys += 1
                if right == 0:
                    break
            ends[i - begin] = n_keys
        _look_up(batch, 0, n_keys, keys, slots, present)
        j = 0
        for i in range(begin, end):
            if n_pairs + window > most:
                return i, n_pairs
            while j < ends[i - begin]:
                n_pairs += _add(keys, counts, slots[j], present[j], batch[j], 1)
                j += 1
    return n_ids, n_pairs


@kernel
def add_pairs(new_keys, new_counts, start, keys, counts, n_pairs, most):
    """Add counts of pairs to a hash table, until ``most`` slots are used.

    Args:
        new_keys: int64; keys of the pairs to add; 0 is ignored.
        new_counts: int64; count of each of these pairs.
        start: index of the first pair to add.
        keys, counts, n_pairs, most: the hash table; see `count_pairs`.

    Returns:
        (index of the next pair to add, n_pairs)
    """
    n_new = len(new_keys)
    slots, present = np.empty(_BATCH, np.int64), np.empty(_BATCH, np.int64)
    for begin in range(start, n_new, _BATCH):
        end = min(begin + _BATCH, n_new)
        _look_up(new_keys, begin, end, keys, slots, present)
        for i in range(begin, end):
            if new_keys[i] == 0:
                continue
            if n_pairs + 1 > most:
                return i, n_pairs
            j = i - begin
            n_pairs += _add(keys, counts, slots[j], present[j], new_keys[i], new_counts[i])
    return n_new, n_pairs


@kernel
def _look_up(wanted, begin, end, keys, slots, present):
    """Compute the slot of a hash table in which to search first for each key, and read this slot.

    The loads from memory are independent of one another, so the processor can do several at a time.

    Args:
        wanted: int64; keys.
        begin, end: range of the keys to look up, ``wanted[begin:end]``.
        keys: int64; keys in the slots of the hash table.
        slots: int64; output; index of the first slot to search for each key.
        present: int64; output; key in this slot, 0 if the slot is free.
    """
    mask = len(keys) - 1
    for i in range(begin, end):
        value = np.uint64(wanted[i]) * _GOLDEN
        slot = np.int64(value ^ (value >> _HALF)) & mask
        slots[i - begin] = slot
        present[i - begin] = keys[slot]


@kernel
def _add(keys, counts, slot, present, key, count):
    """Add to the count of a key in a hash table; return 1 if the key is new, else 0.

    Args:
        keys, counts: int64; the slots of the hash table; updated.
        slot, present: result of `_look_up` for the key: the first slot to search, and the key in it.
        key: the key.
        count: number to add.
    """
    if present != key:
        mask = len(keys) - 1
        while keys[slot] != key:
            if keys[slot] == 0:
                keys[slot] = key
                counts[slot] = count
                return 1
            slot = (slot + 1) & mask
    counts[slot] += count
    return 0


@kernel
def renumber_pairs(keys, numbers):
    """Give words new ids in the keys of word pairs, in place.

    Args:
        keys: int64; keys of the pairs; the key of a pair with a dropped word becomes 0.
        numbers: int32 (n_words,), indexed by the old ids; new id of each word, -1 for dropped words.
    """
    for i in range(len(keys)):
        key = keys[i]
        if key:
            left, right = numbers[(key >> ID_BITS) & ID_MASK], numbers[key & ID_MASK]
            distance = (key >> 2 * ID_BITS) << 2 * ID_BITS
            keys[i] = (
                distance | np.int64(left) << ID_BITS | np.int64(right) if left >= 0 and right >= 0 else 0
            )
