"""Count the n-grams of texts in hashed columns, and convert texts to tf-idf rows over a vocabulary."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.runtime import items_of, offsets_of
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

Array32 = NDArray[np.float32]
Bytes: TypeAlias = NDArray[np.uint8]
# Shortest and longest n-gram; None for none.
Lengths: TypeAlias = tuple[int, int] | list[int] | None

BLOCK_BYTES = 1 << 20
# Number of code points with a class; no code point beyond them is a letter, digit or blank of usual text.
N_CLASSES = 0x20000
# Maximum length of an n-gram: a table of longer ones would not fit in memory.
LONGEST = 64
# Pairs of words in fewer labelled texts are ignored.
MIN_TEXTS_OF_PAIRS = 2
# Maximum number of n-grams learned from unlabelled texts; each direction has a number for each n-gram.
MAX_NGRAMS = 1_000_000


def smoothed_idf(n: int, frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return smoothed inverse document frequencies, ln((1 + n) / (1 + frequency)) + 1, of n documents."""
    return np.log((1.0 + n) / (1.0 + frequencies)) + 1.0


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
        for begin, end in pairwise(bounds.tolist()):
            lines.append(raw[begin:end].decode())
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


@dataclass(frozen=True)
class Ngrams:
    """Vocabulary of hashed n-grams with their idf, which converts texts to tf-idf rows.

    Args:
        form: format of n-grams.
        columns: hashed columns of the n-grams in the vocabulary, int32 (n,), ascending.
        idf: inverse document frequencies, float32 (n,).
    """

    form: NgramFormat
    columns: NDArray[np.int32]
    idf: Array32

    @classmethod
    def learn(
        cls,
        counts: sp.csr_array,
        form: NgramFormat,
        min_texts: int,
        kept: NDArray[Any],
        most: int = MAX_NGRAMS,
    ) -> Ngrams:
        """Make a vocabulary of n-grams that occur in at least ``min_texts`` texts or are listed in ``kept``.

        Args:
            counts: n-gram counts of all texts (n_texts, form.n_columns), by hashed column.
            form: format in which n-grams were counted.
            min_texts: minimum number of texts in which an n-gram occurs.
            kept: hashed columns of n-grams to include however rare they are.
            most: maximum number of n-grams besides ``kept``; the most frequent ones are included.
        """
        frequencies = np.bincount(counts.indices, minlength=form.n_columns)
        known = frequencies >= min_texts
        if known.sum() > most:
            known &= frequencies > np.sort(frequencies)[-most]
        known[kept] = True
        columns = np.flatnonzero(known).astype(np.int32)
        idf = smoothed_idf(counts.shape[0], frequencies[columns])
        return cls(form, columns, idf.astype(np.float32))

    @property
    def n_words(self) -> int:
        """Number of n-grams of words in the vocabulary; they are the first columns of `rows`."""
        return int(np.searchsorted(self.columns, self.form.first_character_column))

    @property
    def n_single(self) -> int:
        """Number of n-grams of words and characters in the vocabulary, without pairs of words.

        They are the first columns of `rows`; columns of pairs follow.
        """
        return int(np.searchsorted(self.columns, self.form.n_columns))

    def with_pairs(self, texts: Sequence[str], reach: int) -> Ngrams:
        """Return a vocabulary that also contains pairs of nearby words, if they occur in at least two texts.

        Args:
            texts: labelled texts, from which pairs and their idf are taken.
            reach: maximum distance of the two words of a pair, in words.
        """
        form = replace(self.form, pairs=reach)
        singles, idf = self.columns[: self.n_single], self.idf[: self.n_single]
        n_pairs = form.mask + 1
        alone = NgramFormat((1, 1), None, n_pairs, lowercase=form.lowercase, pairs=reach)
        counted = count_ngrams(texts, alone).indices
        frequencies = np.bincount(counted[counted >= n_pairs] - n_pairs, minlength=n_pairs)
        pairs = np.flatnonzero(frequencies >= MIN_TEXTS_OF_PAIRS)
        of_pairs = smoothed_idf(len(texts), frequencies[pairs])
        columns = np.append(singles, (form.n_columns + pairs).astype(np.int32))
        return Ngrams(form, columns, np.append(idf, of_pairs.astype(np.float32)))

    def with_texts(self, texts: Sequence[str], n_texts: int) -> tuple[Ngrams, NDArray[np.int64]]:
        """Return a larger vocabulary that also contains the n-grams of new labelled texts.

        Pairs of words in the new texts are not added.

        Args:
            texts: the new labelled texts.
            n_texts: total number of texts, old and new, from which the idf of new n-grams is computed.

        Returns:
            The larger vocabulary, and the new index of each n-gram of the old one, int64 (n,).
        """
        counted = count_ngrams(texts, replace(self.form, pairs=0)).indices
        new, frequencies = np.unique(counted[~np.isin(counted, self.columns)], return_counts=True)
        idf = smoothed_idf(n_texts, frequencies)
        columns = np.append(self.columns, new.astype(np.int32))
        order = np.argsort(columns, kind="stable")
        known = np.empty(len(columns), np.int64)
        known[order] = np.arange(len(columns))
        all_idf = np.append(self.idf, idf.astype(np.float32))
        return replace(self, columns=columns[order], idf=all_idf[order]), known[: len(self.columns)]

    def rows(self, counts: sp.csr_array) -> sp.csr_array:
        """Convert n-gram counts to tf-idf rows over the vocabulary, CSR float32 (n_texts, n).

        In each row, the n-grams of words, those of characters, and the pairs of words are each scaled to unit
        length.

        Args:
            counts: n-gram counts of texts (n_texts, form.width).
        """
        place = np.full(self.form.width, -1, np.int32)
        place[self.columns] = np.arange(len(self.columns))
        columns = place[counts.indices]
        known = columns >= 0
        starts = offsets_of(known)[counts.indptr]
        columns = columns[known]
        data = (1.0 + np.log(counts.data[known])) * self.idf[columns]
        shape = (counts.shape[0], len(self.columns))
        rows = sp.csr_array((data.astype(np.float32), columns, starts), shape=shape)
        scale_kinds(rows, self.n_words, self.n_single)
        return rows

    def rows_of(self, texts: Sequence[str]) -> sp.csr_array:
        """Convert texts to tf-idf rows over the n-grams of the vocabulary, CSR float32 (n_texts, n)."""
        return self.rows(count_ngrams(texts, self.form))


def checked_text(text: Any) -> str:
    """Return a text, after checking that it is a string.

    Raises:
        TextError: it is not, for example because it is a missing value.
    """
    if not isinstance(text, str):
        raise TextError(f"{type(text).__name__} where a text is expected", hint="leave out missing values")
    return text


def checked_texts(texts: Iterable[str]) -> Sequence[str]:
    """Return texts as a list, after checking that each is a string.

    Raises:
        TextError: the argument is a single text, a mapping or a table of several columns, or an element is
            not a text; the message says which.
    """
    hint = "give a list of texts"
    listed = list(items_of(texts, "several texts are expected", hint=hint, error=TextError))
    for number, text in enumerate(listed, 1):
        if not isinstance(text, str):
            raise TextError(f"text {number} is {type(text).__name__}, not text")
    return listed
