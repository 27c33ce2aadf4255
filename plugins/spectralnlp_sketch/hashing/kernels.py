"""Kernels of hashing: the n-grams of a text to columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spectralnlp.jit import kernel

FNV_START, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
OTHER, WORD, BLANK = 0, 1, 2  # classes of code points
_HALF = np.uint64(32)
_W, _C, _P = np.uint64(ord("w")), np.uint64(ord("c")), np.uint64(ord("p"))
# Characters that stand for a word in a pair: inflected forms share them.
PREFIX = 4


class NgramRules(NamedTuple):
    """Which n-grams are counted, as kernels take it.

    Args:
        classes: uint8; ``OTHER``, ``WORD`` or ``BLANK`` of each code point; others are ``OTHER``.
        words: int64 (2,); shortest and longest n-gram of words; a longest of 0 for none.
        characters: int64 (2,); the same of characters.
        mask: columns of a kind less one, a power of two less one.
        reach: how many words apart the two of a pair are, at most; 0 for no pairs.
        first_pair_column: columns from here on are of pairs.
    """

    classes: Any
    words: Any
    characters: Any
    mask: Any
    reach: Any
    first_pair_column: Any


class Buffers(NamedTuple):
    """Arrays that the n-grams of a text are written to.

    Args:
        columns: int32; their columns.
        counts: int32; their counts.
        text: uint8; the text with single blanks, as `normalise` writes it.
        starts: int64; where each character begins.
        kinds: uint8; class of each character.
        words: uint64; hash of the beginning of each word.
    """

    columns: Any
    counts: Any
    text: Any
    starts: Any
    kinds: Any
    words: Any


@kernel
def step(value, byte):
    """FNV-1a of one more byte."""
    return (value ^ np.uint64(byte)) * FNV_PRIME


@kernel
def fold(value, mask):
    """A column: the halves of a hash xored, its lowest bits taken."""
    return np.int64((value ^ (value >> _HALF)) & np.uint64(mask))


@kernel
def code_point(text, i):
    """The code point at byte ``i`` of valid UTF-8, and where the next begins."""
    first = np.int64(text[i])
    if first < 0x80:
        return first, i + 1
    if first < 0xE0:
        return (first & 0x1F) << 6 | (np.int64(text[i + 1]) & 0x3F), i + 2
    middle = (np.int64(text[i + 1]) & 0x3F) << 6 | (np.int64(text[i + 2]) & 0x3F)
    if first < 0xF0:
        return (first & 0x0F) << 12 | middle, i + 3
    return (first & 0x07) << 18 | middle << 6 | (np.int64(text[i + 3]) & 0x3F), i + 4


@kernel
def normalise(text, begin, end, classes, out, starts, kinds):
    """Write a text with one blank before it, after it and for each run of blanks.

    Args:
        text: uint8; valid UTF-8 from ``begin`` to ``end``.
        classes: uint8; ``OTHER``, ``WORD`` or ``BLANK`` of each code point; others are ``OTHER``.
        out: uint8; the bytes are written here.
        starts: int64; where each character begins in ``out``, and at last where they end.
        kinds: uint8; class of each character.

    Returns:
        The number of characters; 0 for a text of blanks.
    """
    out[0], starts[0], kinds[0] = 32, 0, BLANK
    n, size = 1, 1
    i = begin
    while i < end:
        point, following = code_point(text, i)
        kind = classes[point] if point < len(classes) else OTHER
        if kind != BLANK:
            starts[n], kinds[n] = size, kind
            n += 1
            for at in range(i, following):
                out[size] = text[at]
                size += 1
        elif kinds[n - 1] != BLANK:
            out[size], starts[n], kinds[n] = 32, size, BLANK
            n, size = n + 1, size + 1
        i = following
    if kinds[n - 1] != BLANK:
        out[size], starts[n], kinds[n] = 32, size, BLANK
        n, size = n + 1, size + 1
    starts[n] = size
    return n if n > 1 else 0


@kernel
def word_columns(out, starts, kinds, n, low, high, mask, columns, n_columns):
    """Append the columns of the n-grams of words, runs of word characters.

    Args:
        out, starts, kinds, n: as `normalise` gave them.
        low, high: shortest and longest n-gram.
        mask: number of columns less one, a power of two less one.
        columns: int32; they are written here.
        n_columns: how many are there.

    Returns:
        How many are there now.
    """
    for first in range(n):
        if kinds[first] != WORD or kinds[first - 1] == WORD:  # the first character is always a blank
            continue
        value, at = step(FNV_START, _W), first
        for length in range(1, high + 1):
            while at < n and kinds[at] != WORD:
                at += 1
            if at == n:
                break
            if length > 1:
                value = step(value, 32)
            while at < n and kinds[at] == WORD:
                for i in range(starts[at], starts[at + 1]):
                    value = step(value, out[i])
                at += 1
            if length >= low:
                columns[n_columns] = fold(value, mask)
                n_columns += 1
    return n_columns


@kernel
def character_columns(out, starts, kinds, n, low, high, mask, first_column, columns, n_columns):
    """Append the columns of the n-grams of characters inside blank-separated pieces, their blanks included.

    Args:
        first_column: added to each.
        out, starts, kinds, n, low, high, mask, columns, n_columns: as in `word_columns`.

    Returns:
        How many are there now.
    """
    for first in range(n):
        value = step(FNV_START, _C)
        for at in range(first, min(first + high, n)):
            for i in range(starts[at], starts[at + 1]):
                value = step(value, out[i])
            if at - first + 1 >= low:
                columns[n_columns] = first_column + fold(value, mask)
                n_columns += 1
            if at > first and kinds[at] == BLANK:
                break
    return n_columns


@kernel
def pair_column(first, second, mask):
    """The column of two words, whatever their order, from the hashes of their beginnings."""
    return fold(((first + second) * FNV_PRIME) ^ (first * second), mask)


@kernel
def pair_columns(out, starts, kinds, n, reach, mask, first_column, words, columns, n_columns):
    """Append the columns of pairs of words.

    Args:
        reach: how many words apart the two are, at most.
        first_column: added to each.
        words: uint64; overwritten by the hash of each word's beginning.
        out, starts, kinds, n, mask, columns, n_columns: as in `word_columns`.

    Returns:
        How many are there now.
    """
    n_words, at = 0, 0
    while at < n:
        if kinds[at] != WORD:
            at += 1
            continue
        value, first = step(FNV_START, _P), at
        while at < n and kinds[at] == WORD:
            if at < first + PREFIX:
                for i in range(starts[at], starts[at + 1]):
                    value = step(value, out[i])
            at += 1
        for other in range(max(n_words - reach, 0), n_words):
            columns[n_columns] = first_column + pair_column(words[other], value, mask)
            n_columns += 1
        words[n_words] = value
        n_words += 1
    return n_columns


@kernel
def sort_and_count(columns, begin, end, counts):
    """Sort ``columns[begin:end]``, write each once with its count, and return where they end now."""
    columns[begin:end].sort()
    written = begin
    for i in range(begin, end):
        if written > begin and columns[i] == columns[written - 1]:
            counts[written - 1] += 1
        else:
            columns[written] = columns[i]
            counts[written] = 1
            written += 1
    return written


@kernel
def write_columns(text, begin, end, rules, buffers, at):
    """Append a text's columns as often as their n-grams are there, in no order; returns where they end.

    Args:
        text: uint8; valid UTF-8 from ``begin`` to ``end``.
        begin, end: of the text.
        rules: `NgramRules`.
        buffers: `Buffers`; columns are written from ``at`` on.
        at: how many are there.
    """
    words, characters, columns = rules.words, rules.characters, buffers.columns
    out, starts, kinds = buffers.text, buffers.starts, buffers.kinds
    n = normalise(text, begin, end, rules.classes, out, starts, kinds)
    last = word_columns(out, starts, kinds, n, words[0], words[1], rules.mask, columns, at)
    first_column = rules.mask + 1 if words[1] else 0
    last = character_columns(
        out, starts, kinds, n, characters[0], characters[1], rules.mask, first_column, columns, last
    )
    if rules.reach > 0:
        last = pair_columns(
            out,
            starts,
            kinds,
            n,
            rules.reach,
            rules.mask,
            rules.first_pair_column,
            buffers.words,
            columns,
            last,
        )
    return last


@kernel
def text_columns(text, begin, end, rules, buffers, at):
    """Append a text's columns, ascending, and their counts; returns where they end.

    Args:
        text, begin, end, rules, at: as in `write_columns`.
        buffers: `Buffers`; columns and counts are written from ``at`` on.
    """
    last = write_columns(text, begin, end, rules, buffers, at)
    return sort_and_count(buffers.columns, at, last, buffers.counts)


@kernel
def count_columns(text, bounds, rules, buffers, rows):
    """Columns and counts of texts, as the arrays of a CSR matrix.

    Args:
        text: uint8; texts one behind the other, valid UTF-8.
        bounds: int64 (n + 1,); where each text begins in ``text``.
        rules: `NgramRules`.
        buffers: `Buffers`; columns and counts are written here.
        rows: int64 (n + 1,); where each row begins is written here.
    """
    at = 0
    for i in range(len(bounds) - 1):
        at = text_columns(text, bounds[i], bounds[i + 1], rules, buffers, at)
        rows[i + 1] = at


@kernel
def blank_out(text, bounds, classes, spaced):
    """Copy texts with a blank in place of every byte that is not of a word."""
    for i in range(len(bounds) - 1):
        at = bounds[i]
        while at < bounds[i + 1]:
            point, following = code_point(text, at)
            is_word = point < len(classes) and classes[point] == WORD
            for byte in range(at, following):
                spaced[byte] = text[byte] if is_word else 32
            at = following
