"""Vocabulary of the n-grams that occur in training texts, and conversion of texts to tf-idf rows over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import offsets_of
from spectralnlp_sketch.hashing.ngrams import NgramFormat, count_ngrams, scale_kinds

Array32 = NDArray[np.float32]
# Pairs of words in fewer labelled texts are ignored.
MIN_TEXTS_OF_PAIRS = 2
# Maximum number of n-grams learned from unlabelled texts; each direction has a number for each n-gram.
MAX_NGRAMS = 1_000_000


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
        idf = np.log((1.0 + counts.shape[0]) / (1.0 + frequencies[columns])) + 1.0
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

    def single_idf(self) -> Array32:
        """Return the idf of each n-gram, and 0 for each pair of words; float32 (n_ngrams,)."""
        idf = self.idf.copy()
        idf[self.n_single :] = 0.0
        return idf

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
        of_pairs = np.log((1.0 + len(texts)) / (1.0 + frequencies[pairs])) + 1.0
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
        idf = np.log((1.0 + n_texts) / (1.0 + frequencies)) + 1.0
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
