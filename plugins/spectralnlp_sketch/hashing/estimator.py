"""``hashed-ngrams.v1``: texts to weighted columns, in one pass and without a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from spectralnlp.runtime import Corpus, InMemoryCorpus, accumulate
from spectralnlp_sketch.errors import SizeError, TextError
from spectralnlp_sketch.hashing.frequencies import DocumentFrequencies
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_texts, count_ngrams, scale_kinds

Weighting = Literal["counts", "binary", "tfidf"]
BATCH_TEXTS = 8192


class HashedNgrams(TransformerMixin, BaseEstimator):
    """N-grams of words and characters in columns that a public hash gives them.

    Nothing is remembered but document frequencies, and those only for tf-idf: counts of other weightings
    need no ``fit``. A text's columns are the same in every process and version.

    Args:
        words: shortest and longest n-gram of words; None for none.
        characters: shortest and longest n-gram of characters inside words, the blanks around a word included;
            None for none.
        n_features: columns, a power of two; words have the lower half where there are both.
        weighting: ``counts``; ``binary``; or ``tfidf``, (1 + ln count) · idf.
        norm: whether each kind of n-grams of a text is scaled to length 1.
        lowercase: whether texts are put in small letters.

    Attributes:
        frequencies_: `DocumentFrequencies` of what was fitted on; merge, add to and take from them.
    """

    def __init__(
        self,
        words: tuple[int, int] | None = (1, 3),
        characters: tuple[int, int] | None = (2, 5),
        n_features: int = 2**20,
        weighting: Weighting = "tfidf",
        norm: bool = True,
        lowercase: bool = True,
    ) -> None:
        self.words = words
        self.characters = characters
        self.n_features = n_features
        self.weighting = weighting
        self.norm = norm
        self.lowercase = lowercase

    def fit(self, X: Iterable[str] | Corpus[str], y: object = None) -> Self:
        """Count in how many texts each column occurs, on the current engine.

        Args:
            X: texts.
            y: ignored.

        Raises:
            TextError: no texts, or something that is none.
        """
        corpus = X if isinstance(X, Corpus) else InMemoryCorpus(checked_texts(X))
        self.frequencies_ = accumulate(self._no_frequencies(), corpus, batch_size=BATCH_TEXTS)
        if not self.frequencies_.n_texts:
            raise TextError("there are no texts")
        return self

    def partial_fit(self, X: Iterable[str], y: object = None) -> Self:
        """Add texts to those that were counted before."""
        if not hasattr(self, "frequencies_"):
            self.frequencies_ = self._no_frequencies()
        self.frequencies_.add(count_ngrams(checked_texts(X), self._format()))
        return self

    def transform(self, X: Iterable[str]) -> sp.csr_matrix:
        """float32 (n_texts, n_features)."""
        if self.weighting == "tfidf":
            check_is_fitted(self)
        form = self._format()
        counts = count_ngrams(checked_texts(X), form)
        if self.weighting != "counts":
            counts.data[:] = 1.0 if self.weighting == "binary" else 1.0 + np.log(counts.data)
        if self.weighting == "tfidf":
            counts.data *= self.frequencies_.idf[counts.indices]
        if self.norm:
            scale_kinds(counts, form.first_character_column)
        return sp.csr_matrix(counts)

    def _format(self) -> NgramFormat:
        if self.weighting not in ("counts", "binary", "tfidf"):
            raise SizeError(f"weighting must be counts, binary or tfidf, not {self.weighting!r}")
        return NgramFormat(self.words, self.characters, self.n_features, self.lowercase)

    def _no_frequencies(self) -> DocumentFrequencies:
        form = self._format()
        return DocumentFrequencies(form.n_columns, form.words, form.characters, form.lowercase)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.weighting == "tfidf"
        return tags
