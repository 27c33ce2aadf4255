"""Compiled functions (kernels) that hash the n-grams of texts to columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spectralnlp.jit import kernel

FNV_START, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
OTHER, WORD, BLANK = 0, 1, 2  # classes of code points
_HALF = np.uint64(32)
_W, _C, _P = np.uint64(ord("w")), np.uint64(ord("c")), np.uint64(ord("p"))
# Number of leading characters that represent a word in a pair, so that inflected forms share a hash.
PREFIX = 4


class NgramRules(NamedTuple):
    """Rules for counting n-grams, as a tuple for kernels.

    Args:
        classes: class of each code point, ``OTHER``, ``WORD`` or ``BLANK``, uint8; code points beyond the
            array are ``OTHER``.
        words: shortest and longest n-gram of words, int64 (2,); (0, 0) for none.
        characters: shortest and longest n-gram of characters, int64 (2,); (0, 0) for none.
        mask: bit mask that reduces a hash to a column: 2ᵇ − 1 if word n-grams have 2ᵇ columns. Character
            n-grams have 2ᵇ columns too, and so have pairs of words.
        reach: maximum distance of the two words of a pair, in words; 0 for no pairs.
        first_pair_column: first column of pairs.
    """

    classes: Any
    words: Any
    characters: Any
    mask: Any
    reach: Any
    first_pair_column: Any


class Buffers(NamedTuple):
    """Work arrays for the n-grams of a text.

    Args:
        columns: columns of n-grams, int32.
        counts: counts of n-grams, int32.
        text: bytes of the text with single blanks, as `normalise` writes it, uint8.
        starts: start offset of each character, int64.
        kinds: class of each character, uint8.
        words: hash of the first four characters of each word, for pairs of words, uint64.
    """

    columns: Any
    counts: Any
    text: Any
    starts: Any
    kinds: Any
    words: Any


@kernel
def step(value, byte):
    """Return a 64-bit FNV-1a hash after adding one more byte.

    Args:
        value: hash of the bytes before.
        byte: next byte to hash, from 0 to 255.
    """
    return (value ^ np.uint64(byte)) * FNV_PRIME


@kernel
def fold(value, mask):
    """Fold a 64-bit hash to a column: xor its halves and keep the bits of ``mask``."""
    return np.int64((value ^ (value >> _HALF)) & np.uint64(mask))


@kernel
def code_point(text, i):
    """Decode the character at byte ``i`` of valid UTF-8; return its code point and the next offset."""
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
    """Copy a text, with each run of blanks reduced to one, and with one blank at either end.

    Args:
        text: bytes, valid UTF-8 from ``begin`` to ``end``, uint8.
        begin, end: offsets of the text.
        classes: class of each code point, ``OTHER``, ``WORD`` or ``BLANK``, uint8; code points beyond the
            array are ``OTHER``.
        out: output bytes, uint8.
        starts: output start offset of each character in ``out``, then the end offset, int64.
        kinds: output class of each character, uint8.

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
    """Append the hashed columns of a text's n-grams of words to ``columns``.

    A word is a run of word characters.

    Args:
        out, starts, kinds, n: results of `normalise`.
        low, high: lengths of the shortest and longest n-gram.
        mask: bit mask 2ᵇ − 1 that reduces a hash to one of 2ᵇ columns.
        columns: output array, int32.
        n_columns: number of columns already in the output.

    Returns:
        The number of columns now in the output.
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
    """Append the hashed columns of n-grams of characters, each within a word and the blanks around it.

    Args:
        first_column: offset added to each column.
        out, starts, kinds, n, low, high, mask, columns, n_columns: as in `word_columns`.

    Returns:
        The number of columns now in the output.
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
    """Return the column of an unordered pair of words.

    Args:
        first, second: hashes of the first four characters of each word.
        mask: bit mask 2ᵇ − 1 that reduces a hash to one of 2ᵇ columns.
    """
    return fold(((first + second) * FNV_PRIME) ^ (first * second), mask)


@kernel
def pair_columns(out, starts, kinds, n, reach, mask, first_column, words, columns, n_columns):
    """Append the hashed columns of all pairs of words that are at most ``reach`` words apart.

    Args:
        reach: maximum distance of the two words of a pair, in words.
        first_column: offset added to each column.
        words: output hash of each word's first four characters, uint64.
        out, starts, kinds, n, mask, columns, n_columns: as in `word_columns`.

    Returns:
        The number of columns now in the output.
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
    """Sort the columns from ``begin`` to ``end`` in place, remove repetitions, and count each column.

    Args:
        columns: hashed columns of n-grams, int32.
        begin, end: range of ``columns`` to sort.
        counts: output counts, int32; the count of ``columns[i]`` is written to ``counts[i]``.

    Returns:
        End of the range of distinct columns, which begins at ``begin``.
    """
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
    """Append the hashed column of each n-gram of a text to ``buffers.columns``, unsorted, with repetitions.

    Returns the number of columns now in the buffer.

    Args:
        text: bytes, valid UTF-8 from ``begin`` to ``end``, uint8.
        begin, end: offsets of the text.
        rules: `NgramRules`.
        buffers: `Buffers`; columns are written from ``at`` on.
        at: number of columns already in the buffer.
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
    """Append the distinct hashed columns of a text's n-grams, ascending, and their counts to ``buffers``.

    Returns the number of columns now in the buffer.

    Args:
        text, begin, end, rules, at: as in `write_columns`.
        buffers: `Buffers`; columns and counts are written from ``at`` on.
    """
    last = write_columns(text, begin, end, rules, buffers, at)
    return sort_and_count(buffers.columns, at, last, buffers.counts)


@kernel
def count_columns(text, bounds, rules, buffers, rows):
    """Write columns and counts of texts as the arrays of a CSR matrix.

    Args:
        text: bytes of the concatenated texts, valid UTF-8, uint8.
        bounds: start offset of each text in ``text``, then the end offset, int64 (n + 1,).
        rules: `NgramRules`.
        buffers: `Buffers`; columns and counts are written here.
        rows: output start offset of each row, then the end offset, int64 (n + 1,).
    """
    at = 0
    for i in range(len(bounds) - 1):
        at = text_columns(text, bounds[i], bounds[i + 1], rules, buffers, at)
        rows[i + 1] = at


@kernel
def blank_out(text, bounds, classes, spaced):
    """Copy texts to ``spaced``, replacing every byte that is not part of a word by a blank.

    Args:
        text: bytes of the concatenated texts, valid UTF-8, uint8.
        bounds: start offset of each text in ``text``, then the end offset, int64 (n + 1,).
        classes: class of each code point, as in `NgramRules`.
        spaced: output bytes, uint8.
    """
    for i in range(len(bounds) - 1):
        at = bounds[i]
        while at < bounds[i + 1]:
            point, following = code_point(text, at)
            is_word = point < len(classes) and classes[point] == WORD
            for byte in range(at, following):
                spaced[byte] = text[byte] if is_word else 32
            at = following
