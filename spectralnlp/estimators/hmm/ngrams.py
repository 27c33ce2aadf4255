"""Counts of n-grams of symbols: all that the hidden Markov models here learn from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.corpus import Batch, Corpus
from spectralnlp.engine import accumulate
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.hmm.sums import NGramTable, decode
from spectralnlp.estimators.word_counts import WordCounts
from spectralnlp.moments import Moments
from spectralnlp.spill import sum_by_key

UNKNOWN = "<unknown>"
CONSOLIDATE = 1 << 20
"""Occurrences that are kept as they came before equal ones are counted together."""

Codes = NDArray[np.int64]


class CodeCounts(Moments[Sequence[str]]):
    """How often each n-gram occurs, an n-gram being one integer."""

    subtractable = True

    def __init__(self) -> None:
        self._codes: Codes = np.empty(0, np.int64)
        self._counts: Codes = np.empty(0, np.int64)
        self._pending: list[Codes] = []
        self._n_pending = 0

    def _combine(self, codes: Codes, counts: Codes) -> None:
        """Add counts of codes, which may be negative.

        Raises:
            InputError: there are less than none of an n-gram then; nothing has changed.
        """
        self._consolidate()
        codes, counts = sum_by_key(
            np.concatenate([self._codes, codes]), np.concatenate([self._counts, counts])
        )
        if (counts < 0).any():
            raise never_counted()
        self._codes, self._counts = codes, counts

    def _pend(self, codes: Codes) -> None:
        self._pending.append(codes)
        self._n_pending += len(codes)
        if self._n_pending >= max(CONSOLIDATE, len(self._codes)):
            self._consolidate()

    def _consolidate(self) -> None:
        if not self._pending:
            return
        codes = np.concatenate([self._codes, *self._pending])
        counts = np.concatenate([self._counts, np.ones(self._n_pending, np.int64)])
        self._pending, self._n_pending = [], 0
        self._codes, self._counts = sum_by_key(codes, counts)


def never_counted() -> InputError:
    """The error of taking out more than was put in."""
    return InputError(
        "cannot take out n-grams that were not counted", hint="take out only data that was put in"
    )


class NGramCounts(CodeCounts):
    """How often each n-gram occurs: every symbol with the ``order`` - 1 before it.

    Before a sequence stands a boundary, as often as needed. An n-gram is one integer, its symbols the
    digits of a number in base V + 1.

    Args:
        vocabulary: the symbols; all others are counted as one more, the V-th.
        order: n.
        first: count only the n-grams of the first so many symbols of a sequence; None for all.

    Raises:
        ConfigError: there are more possible n-grams than 64-bit integers.
    """

    def __init__(self, vocabulary: Sequence[str], order: int, first: int | None = None) -> None:
        super().__init__()
        self.vocabulary = tuple(vocabulary)
        self.order = order
        self.first = first
        self.base = len(self.vocabulary) + 2  # the symbols, the unknown one, the boundary
        if self.base**order >= 2**63:
            what = f"{order}-grams of {len(self.vocabulary):,} symbols do not fit in 64 bits"
            raise ConfigError(what, hint="lower max_symbols or history")
        self._index: dict[str, int] | None = None

    def parameters(self) -> dict[str, Any]:
        """vocabulary, order and first."""
        return {"vocabulary": self.vocabulary, "order": self.order, "first": self.first}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Count the n-grams of each sequence."""
        if self._index is None:
            self._index = {symbol: index for index, symbol in enumerate(self.vocabulary)}
        index, unknown, boundary = self._index, self.base - 2, self.base - 1
        padding = [boundary] * (self.order - 1)
        ids: list[int] = []
        for sequence in batch:
            ids += padding
            ids += [index.get(symbol, unknown) for symbol in sequence[: self.first]]
        padded = np.array(ids + [boundary] * self.order, np.int64)
        codes = np.zeros(len(ids), np.int64)
        for lag in range(self.order):
            codes = codes * self.base + padded[lag : lag + len(ids)]
        self._pend(codes[padded[self.order - 1 : self.order - 1 + len(ids)] != boundary])

    def table(self) -> NGramTable:
        """The n-grams and their counts as columns."""
        self._consolidate()
        grams = decode(self._codes, self.base, self.order)
        return NGramTable(grams, self._counts.astype(np.float64), self.base - 1)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """``codes``: int64 (n,), ascending; ``counts``: int64 (n,)."""
        self._consolidate()
        return {"codes": self._codes, "counts": self._counts}

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._codes, self._counts = arrays["codes"].copy(), arrays["counts"].copy()

    def _add(self, other: Self) -> None:
        other._consolidate()
        self._combine(other._codes, other._counts)

    def _remove(self, other: Self) -> None:
        other._consolidate()
        self._combine(other._codes, -other._counts)


def count_ngrams(
    corpus: Corpus[Sequence[str]], order: int, max_symbols: int, min_count: int, first: int | None = None
) -> NGramCounts:
    """The n-grams of a corpus over its most frequent symbols: two passes.

    Args:
        corpus: sequences of symbols.
        order: n.
        max_symbols: how many symbols are told apart; the others count as unknown.
        min_count: how often a symbol occurs to be told apart.
        first: as in `NGramCounts`.

    Raises:
        InputError: there is no symbol in the corpus.
    """
    seen = accumulate(WordCounts(), corpus)
    if not seen.total():
        raise InputError("no symbols to learn from", hint="give a file of blank-separated symbols")
    return accumulate(NGramCounts(seen.most_frequent(max_symbols, min_count), order, first), corpus)
