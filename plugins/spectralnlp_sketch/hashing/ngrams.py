"""Texts to counts of hashed n-grams."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp_sketch.errors import SizeError, TextError
from spectralnlp_sketch.hashing.kernels import (
    BLANK,
    OTHER,
    WORD,
    Buffers,
    NgramRules,
    blank_out,
    count_columns,
)

Bytes: TypeAlias = NDArray[np.uint8]
# Shortest and longest n-gram; None for none.
Lengths: TypeAlias = tuple[int, int] | list[int] | None

BLOCK_BYTES = 1 << 20
# Code points that have a class; beyond are none that words are written with.
N_CLASSES = 0x20000
# No n-gram is longer: the table of them would not fit in memory.
LONGEST = 64


@dataclass(frozen=True)
class NgramFormat:
    """Which n-grams are counted, and in how many columns.

    Args:
        words: shortest and longest n-gram of words; None for none.
        characters: shortest and longest n-gram of characters; None for none.
        n_columns: a power of two.
        lowercase: whether texts are put in small letters.
        pairs: how many words apart the two words of a pair are, at most; 0 for no pairs. Their columns
            lie behind the ``n_columns`` of the others.

    Raises:
        SizeError: one of them makes no sense.
    """

    words: tuple[int, int] | None = (1, 2)
    characters: tuple[int, int] | None = (2, 5)
    n_columns: int = 2**20
    lowercase: bool = True
    pairs: int = 0

    __repr__ = one_line

    def __post_init__(self) -> None:
        for name in ("words", "characters"):
            lengths = getattr(self, name)
            if lengths is not None and not (len(lengths) == 2 and 1 <= lengths[0] <= lengths[1] <= LONGEST):
                raise SizeError(f"{name}: not a range of lengths such as (1, 2): {lengths!r}")
        if self.words is None and self.characters is None:
            raise SizeError("no n-grams of words and none of characters: nothing is left to count")
        if not 2 <= self.n_columns <= 2**30 or self.n_columns & (self.n_columns - 1):
            raise SizeError(f"n_columns must be a power of two from 2 to 2**30, not {self.n_columns}")
        if not 0 <= self.pairs <= LONGEST:
            raise SizeError(f"pairs must be from 0 to {LONGEST}, not {self.pairs}")

    @property
    def mask(self) -> int:
        """One less than the columns of a kind."""
        both = self.words is not None and self.characters is not None
        return self.n_columns // (2 if both else 1) - 1

    @property
    def first_character_column(self) -> int:
        """Columns below are of words."""
        if self.characters is None:
            return self.n_columns
        return 0 if self.words is None else self.n_columns // 2

    @property
    def width(self) -> int:
        """Columns of all kinds, pairs included."""
        return self.n_columns + (self.mask + 1 if self.pairs else 0)

    def kinds(self, columns: NDArray[Any]) -> NDArray[np.int64]:
        """Return 0 for columns of words, 1 for those of characters, 2 for those of pairs."""
        return np.searchsorted((self.first_character_column, self.n_columns), columns, side="right")

    def rules(self) -> NgramRules:
        """The format as kernels take it."""
        words, characters = ((0, 0) if each is None else each for each in (self.words, self.characters))
        return NgramRules(
            classes=character_classes(),
            words=np.array(words, np.int64),
            characters=np.array(characters, np.int64),
            mask=self.mask,
            reach=self.pairs,
            first_pair_column=self.n_columns,
        )

    def capacity(self, n_bytes: int, n_texts: int) -> int:
        """At least as many n-grams as texts of so many bytes have."""
        low, high = self.words or (0, 0)
        first, last = self.characters or (0, 0)
        n_words, n_characters = high - low + 1 if high else 0, last - first + 1 if last else 0
        n_words += self.pairs
        return n_words * (n_bytes // 2 + n_texts) + n_characters * (n_bytes + 2 * n_texts) + 1


def checked_pair(lengths: Sequence[int] | None) -> tuple[int, int] | None:
    """Shortest and longest n-gram as a tuple; None for none.

    Raises:
        SizeError: there are not two.
    """
    if lengths is None:
        return None
    if len(lengths) != 2:
        raise SizeError(f"not a range of lengths such as (1, 2): {lengths!r}")
    return int(lengths[0]), int(lengths[1])


def encode(texts: Sequence[str], lowercase: bool) -> tuple[Bytes, NDArray[np.int64]]:
    """Texts as UTF-8, one behind the other, and where each begins (n + 1,).

    A lone surrogate, as Python makes of bytes that it could not decode, becomes a question mark.
    """
    raw = [(text.lower() if lowercase else text).encode("utf-8", "replace") for text in texts]
    bounds = np.zeros(len(raw) + 1, np.int64)
    np.cumsum([len(each) for each in raw], out=bounds[1:])
    return np.frombuffer(b"".join(raw), np.uint8), bounds


def blocks(texts: Sequence[str], lowercase: bool) -> Iterator[tuple[Bytes, NDArray[np.int64]]]:
    """Texts encoded, about a million characters at a time, which bounds the buffers of their n-grams."""
    begin = size = 0
    for i, text in enumerate(texts):
        if size and size + len(text) > BLOCK_BYTES:
            yield encode(texts[begin:i], lowercase)
            begin, size = i, 0
        size += len(text) + 32
    if begin < len(texts):
        yield encode(texts[begin:], lowercase)


def count_ngrams(texts: Sequence[str], form: NgramFormat) -> sp.csr_array:
    """Counts of n-grams, float32 (n_texts, form.width), columns ascending in each row."""
    parts = [_count_block(text, bounds, form) for text, bounds in blocks(texts, form.lowercase)]
    if not parts:
        return sp.csr_array((0, form.width), dtype=np.float32)
    return sp.csr_array(sp.vstack(parts, format="csr"))


def _count_block(text: Bytes, bounds: NDArray[np.int64], form: NgramFormat) -> sp.csr_array:
    n = len(bounds) - 1
    buffers = new_buffers(form.capacity(len(text), n), bounds)
    rows = np.zeros(n + 1, np.int64)
    count_columns(text, bounds, form.rules(), buffers, rows)
    size = int(rows[-1])
    counts, columns = buffers.counts[:size].astype(np.float32), buffers.columns[:size].copy()
    arrays = (counts, columns, rows.astype(np.int32))
    return sp.csr_array(arrays, shape=(n, form.width))


def spaced_words(texts: Sequence[str], lowercase: bool = True) -> list[str]:
    """The words of each text with blanks between them: the words that n-grams are counted of."""
    lines = []
    for text, bounds in blocks(texts, lowercase):
        spaced = np.empty_like(text)
        blank_out(text, bounds, character_classes(), spaced)
        raw = spaced.tobytes()
        lines += [raw[bounds[i] : bounds[i + 1]].decode() for i in range(len(bounds) - 1)]
    return lines


def new_buffers(capacity: int, bounds: NDArray[np.int64]) -> Buffers:
    """Buffers for n-grams of texts.

    Args:
        capacity: n-grams, at most.
        bounds: where each text begins (n + 1,); the longest has to fit.
    """
    longest = int(np.diff(bounds).max(initial=0))
    return Buffers(
        columns=np.empty(capacity, np.int32),
        counts=np.empty(capacity, np.int32),
        text=np.empty(longest + 2, np.uint8),
        starts=np.empty(longest + 3, np.int64),
        kinds=np.empty(longest + 2, np.uint8),
        words=np.empty(longest // 2 + 2, np.uint64),
    )


@cache
def character_classes() -> Bytes:
    """uint8; of each code point whether it is of words, a blank, or neither.

    Words are written with letters, digits, marks and the underscore.
    """
    return np.array([_class(chr(point)) for point in range(N_CLASSES)], np.uint8)


def _class(character: str) -> int:
    if character.isspace():
        return BLANK
    in_words = character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
    return WORD if in_words else OTHER


def scale_kinds(matrix: sp.csr_array, *first_columns: int) -> None:
    """Scale the words of each row to length 1, and so its other kinds of columns, in place.

    Args:
        matrix: texts as rows.
        first_columns: where each kind but the words begins, ascending.
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    n_kinds = len(first_columns) + 1
    kind = n_kinds * rows + np.searchsorted(first_columns, matrix.indices, side="right")
    squares = np.bincount(kind, matrix.data.astype(np.float64) ** 2, n_kinds * matrix.shape[0])
    matrix.data /= np.sqrt(squares)[kind].astype(np.float32)


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """A list of texts.

    Raises:
        TextError: it is a single text, or something in it is none; says which.
    """
    if isinstance(texts, str | bytes):
        raise TextError("one text where several are expected", hint="give a list of texts")
    listed = list(texts)
    for number, text in enumerate(listed, 1):
        if not isinstance(text, str):
            raise TextError(f"text {number} is {type(text).__name__}, not text")
    return listed
