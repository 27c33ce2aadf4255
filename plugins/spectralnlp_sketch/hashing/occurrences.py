"""List the n-grams of one text with their positions in it, to explain classifications."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spectralnlp_sketch.hashing.kernels import BLANK, FNV_PRIME, FNV_START, PREFIX, WORD, normalise
from spectralnlp_sketch.hashing.ngrams import NgramFormat, encode, new_buffers

_START, _PRIME, _ALL = int(FNV_START), int(FNV_PRIME), 2**64 - 1


class Occurrence(NamedTuple):
    """Occurrence of an n-gram in a text.

    Args:
        column: hashed column of the n-gram.
        text: the n-gram, lowercased if the format says so.
        first, end: range of its characters in the text that `normalised` returns; for a pair of words, range
            of the first word.
        second: range of the second word of a pair; None for n-grams.
    """

    column: int
    text: str
    first: int
    end: int
    second: tuple[int, int] | None = None

    def overlaps(self, first: int, end: int) -> bool:
        """Return whether the n-gram overlaps the characters from ``first`` to ``end``."""
        spans = [(self.first, self.end), *([self.second] if self.second else [])]
        return any(first < each_end and each_first < end for each_first, each_end in spans)


class NormalisedText(NamedTuple):
    """Characters of a text in which each run of blanks is one blank, and one blank is at either end.

    Args:
        characters: the characters, each a string.
        kinds: class of each character: ``OTHER``, ``WORD`` or ``BLANK``.
    """

    characters: list[str]
    kinds: list[int]

    def words(self) -> list[tuple[int, int]]:
        """Return the range (first, end) of each word, a run of characters of the class ``WORD``."""
        runs: list[tuple[int, int]] = []
        for at, kind in enumerate(self.kinds):
            if kind == WORD:
                first = runs.pop()[0] if runs and runs[-1][1] == at else at
                runs.append((first, at + 1))
        return runs


def normalised(text: str, form: NgramFormat) -> NormalisedText:
    """Return a text as n-grams are counted in it: with single blanks, lowercased if the format says so."""
    encoded, bounds = encode([text], form.lowercase)
    buffers = new_buffers(1, bounds)
    out, starts, kinds = buffers.text, buffers.starts, buffers.kinds
    n = int(normalise(encoded, 0, len(encoded), form.rules().classes, out, starts, kinds))
    ends = starts[: n + 1].tolist()
    raw = out.tobytes()
    return NormalisedText([raw[ends[i] : ends[i + 1]].decode() for i in range(n)], kinds[:n].tolist())


def occurrences(text: NormalisedText, form: NgramFormat) -> Iterator[Occurrence]:
    """Yield all occurrences of n-grams and pairs of words in a text, of the kinds that the format counts."""
    yield from _of_words(text, form)
    yield from _pairs(text, form)
    low, high = form.characters or (1, 0)
    offset = form.first_character_column if form.words else 0
    for first in range(len(text.characters)):
        for end in range(first + 1, min(first + high, len(text.characters)) + 1):
            if end - first >= low:
                piece = "".join(text.characters[first:end])
                yield Occurrence(offset + _column("c", piece, form.mask), piece, first, end)
            if end - first > 1 and text.kinds[end - 1] == BLANK:
                break


def _of_words(text: NormalisedText, form: NgramFormat) -> Iterator[Occurrence]:
    low, high = form.words or (1, 0)
    words = text.words()
    spelled = ["".join(text.characters[first:end]) for first, end in words]
    for number, (first, _) in enumerate(words):
        for length in range(low, min(high, len(words) - number) + 1):
            piece = " ".join(spelled[number : number + length])
            yield Occurrence(_column("w", piece, form.mask), piece, first, words[number + length - 1][1])


def _pairs(text: NormalisedText, form: NgramFormat) -> Iterator[Occurrence]:
    words = text.words() if form.pairs else []
    spelled = ["".join(text.characters[first:end]) for first, end in words]
    starts = ["".join(text.characters[first : min(end, first + PREFIX)]) for first, end in words]
    hashes = [_hash("p", start) for start in starts]
    for number, word in enumerate(words):
        for other in range(max(number - form.pairs, 0), number):
            one, two = hashes[other], hashes[number]
            value = ((one + two) * _PRIME ^ one * two) & _ALL
            column = form.n_columns + _fold(value, form.mask)
            yield Occurrence(column, f"{spelled[other]} … {spelled[number]}", *words[other], second=word)


def _column(mark: str, piece: str, mask: int) -> int:
    return _fold(_hash(mark, piece), mask)


def _hash(mark: str, piece: str) -> int:
    """Return the 64-bit FNV-1a hash of an n-gram, or of the beginning of a word in a pair.

    Args:
        mark: letter that is hashed first: ``w`` for an n-gram of words, ``c`` for an n-gram of characters,
            ``p`` for a word in a pair.
        piece: the n-gram, or the first four characters of the word.
    """
    value = _START
    for byte in mark.encode() + piece.encode():
        value = (value ^ byte) * _PRIME & _ALL
    return value


def _fold(value: int, mask: int) -> int:
    return int(np.int64((value ^ value >> 32) & mask))
