"""N-grams that are known, and texts as tf-idf rows of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams, scale_kinds

Array32 = NDArray[np.float32]
# Pairs of words that are in fewer labelled texts tell nothing about others.
LEAST_TEXTS_OF_PAIRS = 2
# N-grams of texts without a label that are known, at most: a direction has a number for each.
MOST_NGRAMS = 1_000_000


@dataclass(frozen=True)
class Ngrams:
    """The n-grams that are known, and texts as rows of them.

    Args:
        form: how texts are cut into n-grams.
        columns: int32 (n,), ascending; of the n-grams that are known.
        idf: float32 (n,).
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
        most: int = MOST_NGRAMS,
    ) -> Ngrams:
        """Learn the n-grams that are in so many texts or among the columns ``kept``, with their idf.

        Args:
            counts: of all texts (n_texts, form.n_columns).
            form: how they were counted.
            min_texts: least number of texts.
            kept: columns to keep in any case.
            most: of more than so many the most frequent ones are learned.
        """
        frequencies = np.bincount(counts.indices, minlength=form.n_columns)
        known = frequencies >= min_texts
        if known.sum() > most:
            known &= frequencies > np.sort(frequencies)[-most]
        known[kept] = True
        columns = np.flatnonzero(known).astype(np.int32)
        idf = np.log((1.0 + counts.shape[0]) / (1.0 + frequencies[columns])) + 1.0
        return cls(form, columns, idf.astype(np.float32))

    @property
    def n_words(self) -> int:
        """How many are of words; they come first."""
        return int(np.searchsorted(self.columns, self.form.first_character_column))

    @property
    def n_single(self) -> int:
        """How many are not pairs of words; pairs come last."""
        return int(np.searchsorted(self.columns, self.form.n_columns))

    def single_idf(self) -> Array32:
        """idf, and 0 for pairs of words; float32 (n_ngrams,)."""
        idf = self.idf.copy()
        idf[self.n_single :] = 0.0
        return idf

    def with_pairs(self, texts: Sequence[str], reach: int) -> Ngrams:
        """Learn the pairs of words that are in two of the texts or more, beside the n-grams.

        Args:
            texts: labelled ones; idf of pairs is that of these.
            reach: how many words apart the two are, at most.
        """
        form = replace(self.form, pairs=reach)
        singles, idf = self.columns[: self.n_single], self.idf[: self.n_single]
        n_pairs = form.mask + 1
        alone = NgramFormat((1, 1), None, n_pairs, lowercase=form.lowercase, pairs=reach)
        counted = count_ngrams(texts, alone).indices
        frequencies = np.bincount(counted[counted >= n_pairs] - n_pairs, minlength=n_pairs)
        pairs = np.flatnonzero(frequencies >= LEAST_TEXTS_OF_PAIRS)
        of_pairs = np.log((1.0 + len(texts)) / (1.0 + frequencies[pairs])) + 1.0
        columns = np.append(singles, (form.n_columns + pairs).astype(np.int32))
        return Ngrams(form, columns, np.append(idf, of_pairs.astype(np.float32)))

    def with_texts(self, texts: Sequence[str], n_texts: int) -> tuple[Ngrams, NDArray[np.int64]]:
        """Know the n-grams of further labelled texts as well, but their pairs of words.

        Args:
            texts: the labelled ones that are new.
            n_texts: how many texts there are in all.

        Returns:
            The n-grams, and where those that were known stand among them, int64 (n,).
        """
        counted = count_ngrams(texts, replace(self.form, pairs=0)).indices
        new, frequencies = np.unique(counted[~np.isin(counted, self.columns)], return_counts=True)
        idf = np.log((1.0 + n_texts) / (1.0 + frequencies)) + 1.0
        columns = np.append(self.columns, new.astype(np.int32))
        order = np.argsort(columns, kind="stable")
        known = np.empty(len(columns), np.int64)
        known[order] = np.arange(len(columns))
        all_idf = np.append(self.idf, idf.astype(np.float32))
        return replace(self, columns=columns[order], idf=all_idf[order]), known[: len(self.columns)]

    def rows(self, counts: sp.csr_array) -> sp.csr_array:
        """Counts of all columns to tf-idf of the known ones, each kind of length 1; float32 (n_texts, n)."""
        place = np.full(self.form.width, -1, np.int32)
        place[self.columns] = np.arange(len(self.columns))
        columns = place[counts.indices]
        known = columns >= 0
        starts = np.append(0, np.cumsum(known))[counts.indptr]
        columns = columns[known]
        data = (1.0 + np.log(counts.data[known])) * self.idf[columns]
        shape = (counts.shape[0], len(self.columns))
        rows = sp.csr_array((data.astype(np.float32), columns, starts), shape=shape)
        scale_kinds(rows, self.n_words, self.n_single)
        return rows

    def rows_of(self, texts: Sequence[str]) -> sp.csr_array:
        """Texts to rows."""
        return self.rows(count_ngrams(texts, self.form))
