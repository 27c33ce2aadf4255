"""Count the n-grams of texts in hashed columns, as sparse matrices."""

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
from spectralnlp.runtime import offsets_of
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
# Number of code points with a class; no code point beyond them is a letter, digit or blank of usual text.
N_CLASSES = 0x20000
# Maximum length of an n-gram: a table of longer ones would not fit in memory.
LONGEST = 64


@dataclass(frozen=True)
class NgramFormat:
    """Kinds and lengths of n-grams to count, and the number of columns.

    Args:
        words: shortest and longest n-gram of words; None for none.
        characters: shortest and longest n-gram of characters; None for none.
        n_columns: number of columns, a power of two.
        lowercase: whether to lowercase texts.
        pairs: maximum distance of the two words of a pair, in words; 0 for no pairs. Columns of pairs follow
            the ``n_columns`` of the other n-grams.

    Raises:
        SizeError: a field has an invalid value.
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
        """Bit mask that reduces the hash of an n-gram to a column of its kind (word or character n-grams).

        The mask is the number of columns of the kind minus one. If both kinds are counted, each has half of
        the ``n_columns``; otherwise the only kind has all of them.
        """
        both = self.words is not None and self.characters is not None
        return self.n_columns // (2 if both else 1) - 1

    @property
    def first_character_column(self) -> int:
        """First column of n-grams of characters; lower columns are those of words."""
        if self.characters is None:
            return self.n_columns
        return 0 if self.words is None else self.n_columns // 2

    @property
    def width(self) -> int:
        """Total number of hashed columns, including those of pairs of words."""
        return self.n_columns + (self.mask + 1 if self.pairs else 0)

    def kinds(self, columns: NDArray[Any]) -> NDArray[np.int64]:
        """Return the kind of each column: 0 for n-grams of words, 1 for characters, 2 for pairs of words."""
        return np.searchsorted((self.first_character_column, self.n_columns), columns, side="right")

    def rules(self) -> NgramRules:
        """Return the format as a tuple, for the compiled kernels that count n-grams."""
        words, characters = self.words or (0, 0), self.characters or (0, 0)
        return NgramRules(
            classes=character_classes(),
            words=np.array(words, np.int64),
            characters=np.array(characters, np.int64),
            mask=self.mask,
            reach=self.pairs,
            first_pair_column=self.n_columns,
        )

    def capacity(self, n_bytes: int, n_texts: int) -> int:
        """Return the maximum number of n-grams in texts, for `new_buffers`.

        Args:
            n_bytes: total length of the texts in UTF-8.
            n_texts: number of texts.
        """
        low, high = self.words or (0, 0)
        first, last = self.characters or (0, 0)
        n_words, n_characters = high - low + 1 if high else 0, last - first + 1 if last else 0
        n_words += self.pairs
        return n_words * (n_bytes // 2 + n_texts) + n_characters * (n_bytes + 2 * n_texts) + 1


def checked_pair(lengths: Sequence[int] | None) -> tuple[int, int] | None:
    """Return the shortest and longest n-gram length as a tuple, after checking them; None stays None.

    Raises:
        SizeError: there are not exactly two lengths.
    """
    if lengths is None:
        return None
    if len(lengths) != 2:
        raise SizeError(f"not a range of lengths such as (1, 2): {lengths!r}")
    return int(lengths[0]), int(lengths[1])


def encode(texts: Sequence[str], lowercase: bool) -> tuple[Bytes, NDArray[np.int64]]:
    """Encode texts as concatenated UTF-8; return the bytes and the offset of each text (n + 1,).

    Lone surrogates, which Python uses for undecodable bytes, become question marks.
    """
    raw = [(text.lower() if lowercase else text).encode("utf-8", "replace") for text in texts]
    bounds = offsets_of([len(encoded) for encoded in raw])
    return np.frombuffer(b"".join(raw), np.uint8), bounds


def blocks(texts: Sequence[str], lowercase: bool) -> Iterator[tuple[Bytes, NDArray[np.int64]]]:
    """Yield encoded texts, as `encode` does, in blocks of about a million characters to limit memory."""
    begin = size = 0
    for i, text in enumerate(texts):
        if size and size + len(text) > BLOCK_BYTES:
            yield encode(texts[begin:i], lowercase)
            begin, size = i, 0
        size += len(text) + 32
    if begin < len(texts):
        yield encode(texts[begin:], lowercase)


def count_ngrams(texts: Sequence[str], form: NgramFormat) -> sp.csr_array:
    """Count the n-grams of texts in hashed columns.

    Returns:
        CSR float32 (n_texts, form.width), with ascending columns in each row.
    """
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
    """Return texts in which every character that is not part of a word is replaced by a blank."""
    lines = []
    for text, bounds in blocks(texts, lowercase):
        spaced = np.empty_like(text)
        blank_out(text, bounds, character_classes(), spaced)
        raw = spaced.tobytes()
        lines += [raw[bounds[i] : bounds[i + 1]].decode() for i in range(len(bounds) - 1)]
    return lines


def new_buffers(capacity: int, bounds: NDArray[np.int64]) -> Buffers:
    """Allocate buffers for n-grams of texts.

    Args:
        capacity: maximum number of n-grams.
        bounds: offset of each text (n + 1,), from which the length of the longest is computed.
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
    """Return the class of each code point, uint8 (`N_CLASSES`,): part of a word, blank, or neither.

    Words consist of letters, digits, combining marks and underscores.
    """
    return np.array([_class(chr(point)) for point in range(N_CLASSES)], np.uint8)


def _class(character: str) -> int:
    if character.isspace():
        return BLANK
    in_words = character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
    return WORD if in_words else OTHER


def scale_kinds(matrix: sp.csr_array, *first_columns: int) -> None:
    """Scale word n-grams, character n-grams and pairs of words of each row to unit length, in place.

    Args:
        matrix: weighted n-grams, CSR float32 (n_texts, n_ngrams).
        first_columns: first column of character n-grams and, if there are pairs, of pairs of words.
    """
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    n_kinds = len(first_columns) + 1
    kind = n_kinds * rows + np.searchsorted(first_columns, matrix.indices, side="right")
    squares = np.bincount(kind, matrix.data.astype(np.float64) ** 2, n_kinds * matrix.shape[0])
    matrix.data /= np.sqrt(squares)[kind].astype(np.float32)


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """Return texts as a list, after checking that each is a string.

    Raises:
        TextError: the argument is a single text, or an element is not a text; the message says which.
    """
    if isinstance(texts, str | bytes):
        raise TextError("one text where several are expected", hint="give a list of texts")
    listed = list(texts)
    for number, text in enumerate(listed, 1):
        if not isinstance(text, str):
            raise TextError(f"text {number} is {type(text).__name__}, not text")
    return listed
