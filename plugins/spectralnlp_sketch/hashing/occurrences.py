"""The n-grams of one text with their places: what kernels count, spelled out for explanations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from spectralnlp_sketch.hashing.kernels import BLANK, FNV_PRIME, FNV_START, PREFIX, WORD, normalise
from spectralnlp_sketch.hashing.ngrams import NgramFormat, encode, new_buffers

_START, _PRIME, _ALL = int(FNV_START), int(FNV_PRIME), 2**64 - 1


class Occurrence(NamedTuple):
    """An n-gram at one place of a text.

    Args:
        column: what it is hashed to.
        text: itself, in small letters where texts are.
        first, end: characters of the text as `normalised` gives it.
        second: first character and end of the second word of a pair; None for all else.
    """

    column: int
    text: str
    first: int
    end: int
    second: tuple[int, int] | None = None

    def overlaps(self, first: int, end: int) -> bool:
        """Tell whether it has one of the characters from ``first`` to ``end``."""
        spans = [(self.first, self.end), *([self.second] if self.second else [])]
        return any(first < each_end and each_first < end for each_first, each_end in spans)


class NormalisedText(NamedTuple):
    """A text with single blanks, one at either end.

    Args:
        characters: one string each.
        kinds: class of each character.
    """

    characters: list[str]
    kinds: list[int]

    def words(self) -> list[tuple[int, int]]:
        """First character and end of each run of word characters."""
        found: list[tuple[int, int]] = []
        for at, kind in enumerate(self.kinds):
            if kind == WORD:
                first = found.pop()[0] if found and found[-1][1] == at else at
                found.append((first, at + 1))
        return found


def normalised(text: str, form: NgramFormat) -> NormalisedText:
    """Return a text as its n-grams are cut from it."""
    encoded, bounds = encode([text], form.lowercase)
    buffers = new_buffers(1, bounds)
    out, starts, kinds = buffers.text, buffers.starts, buffers.kinds
    n = int(normalise(encoded, 0, len(encoded), form.rules().classes, out, starts, kinds))
    ends = starts[: n + 1].tolist()
    raw = out.tobytes()
    return NormalisedText([raw[ends[i] : ends[i + 1]].decode() for i in range(n)], kinds[:n].tolist())


def occurrences(text: NormalisedText, form: NgramFormat) -> Iterator[Occurrence]:
    """Yield every n-gram that is counted, as often as it is there."""
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
    hashes = [_hash("p", each) for each in starts]
    for number, word in enumerate(words):
        for other in range(max(number - form.pairs, 0), number):
            one, two = hashes[other], hashes[number]
            value = ((one + two) * _PRIME ^ one * two) & _ALL
            column = form.n_columns + _fold(value, form.mask)
            yield Occurrence(column, f"{spelled[other]} … {spelled[number]}", *words[other], second=word)


def _column(mark: str, piece: str, mask: int) -> int:
    return _fold(_hash(mark, piece), mask)


def _hash(mark: str, piece: str) -> int:
    """FNV-1a of a mark and an n-gram."""
    value = _START
    for byte in mark.encode() + piece.encode():
        value = (value ^ byte) * _PRIME & _ALL
    return value


def _fold(value: int, mask: int) -> int:
    return int(np.int64((value ^ value >> 32) & mask))
