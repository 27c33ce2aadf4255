"""Read files of n-gram counts, from which models can be trained instead of from text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.runtime import open_text, report_bad

# Number of n-grams in one `Ngrams`.
_AT_A_TIME = 1 << 15
# Counts have to be smaller than this, so that sums fit int64.
_LARGEST = 1 << 62


@dataclass(frozen=True)
class Ngrams:
    """N-grams of one length with their counts, from which models can be trained instead of from text.

    Args:
        words: the n-grams, n words each.
        counts: count of each n-gram, int64 (number of n-grams,).

    Examples:
        >>> import numpy as np
        >>> from spectralnlp.estimators.eigenwords import Ngrams
        >>> ngrams = Ngrams([["the", "cat"], ["a", "dog"]], np.array([3, 2]))
        >>> int(ngrams.counts.sum())
        5
    """

    words: Sequence[Sequence[str]]
    counts: NDArray[np.int64]


def read_ngrams(path: Path, on_bad: Callable[[InputError], None] | None = None) -> Iterator[Ngrams]:
    """Yield counted n-grams in batches of up to 32,768.

    A line is an n-gram, a tab and its count (Google's Web 1T), or n-gram, year, count and number of books,
    separated by tabs (Google Books). All n-grams of a file have the same length, 2 or more.

    Args:
        path: the file, plain or gzipped.
        on_bad: called with the error of each bad line, which is skipped; None to raise the first error.

    Raises:
        InputError: a line has another form, or its n-gram is longer or shorter than the file's first one. The
            message names the path and the line.
    """
    order = 0
    words: list[list[str]] = []
    counts: list[int] = []
    with open_text(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            fields = line.split("\t")
            ngram, count = fields[0].split(), fields[2 if len(fields) == 4 else -1].strip()
            problem = _problem(ngram, count, len(fields), order)
            if problem:
                hint = "a line is an n-gram, a tab and a count"
                error = InputError(problem, path=path, line=number, hint=hint)
                report_bad(error, on_bad)
                continue
            order = len(ngram)
            words.append(ngram)
            counts.append(int(count))
            if len(words) == _AT_A_TIME:
                yield Ngrams(words, np.array(counts, np.int64))
                words, counts = [], []
    if words:
        yield Ngrams(words, np.array(counts, np.int64))


def _problem(ngram: list[str], count: str, n_fields: int, order: int) -> str | None:
    """Return what is wrong with a line of n-gram counts, or None if it is valid.

    Args:
        ngram: words of the n-gram.
        count: its count, as text.
        n_fields: number of columns of the line.
        order: length of the n-grams of the file; 0 if unknown.
    """
    if n_fields not in (2, 4):
        return f"{n_fields} columns between tabs, not 2 or 4"
    if not (count.isascii() and count.isdecimal() and len(count) < 20 and int(count) < _LARGEST):
        return f"{count!r} is not a count"
    if len(ngram) < 2:
        return f"an n-gram of {len(ngram)} words"
    return f"an n-gram of {len(ngram)} words after one of {order}" if order and len(ngram) != order else None
