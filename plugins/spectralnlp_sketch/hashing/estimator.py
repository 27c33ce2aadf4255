"""Featurizer ``hashed-ngrams.v1``: weighted counts of hashed n-grams, without a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.estimator import MomentEstimator
from spectralnlp.runtime import Corpus, InMemoryCorpus
from spectralnlp.storage import Array, StoredArrays, StoredValues
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.featurizer import TextFeaturizer
from spectralnlp_sketch.hashing.frequencies import DocumentFrequencies
from spectralnlp_sketch.hashing.ngrams import (
    Lengths,
    NgramFormat,
    checked_pair,
    checked_texts,
    count_ngrams,
    scale_kinds,
)


@dataclass(kw_only=True, eq=False, repr=False)
class HashedNgrams(TextFeaturizer, MomentEstimator[str]):
    """Featurizer that counts n-grams of words and characters in columns chosen by a documented hash.

    Only tf-idf weighting needs ``fit``, which learns document frequencies; other weightings learn nothing.
    The column of an n-gram is the same in every process and version.

    With more columns, fewer n-grams share one, but a classifier trained on these features is slower: a linear
    model of scikit-learn learns from thousands of texts in seconds with the default number of columns, and
    in minutes with 2²⁰ columns.

    Attributes:
        frequencies_: fitted `DocumentFrequencies`, which can be merged, added to and subtracted from.

    Examples:
        >>> from spectralnlp_sketch import HashedNgrams
        >>> HashedNgrams().fit_transform(["when does the boat leave", "what does it cost"]).shape[0]
        2
    """

    unlearning = "exact"

    words: Annotated[
        Lengths,
        Doc("Shortest and longest n-gram of words; None for none."),
    ] = (1, 3)
    characters: Annotated[
        Lengths,
        Doc(
            "Shortest and longest n-gram of characters inside words, including the blanks around a word; "
            "None for none."
        ),
    ] = (2, 5)
    n_features: Annotated[
        int,
        Ge(2),
        Doc("Number of columns, a power of two; words have the lower half if both kinds are counted."),
    ] = field(default=2**16, kw_only=False)
    weighting: Annotated[
        Literal["counts", "binary", "tfidf"],
        Doc("Weighting of columns: ``counts``, ``binary``, or ``tfidf``, (1 + ln count) · idf."),
    ] = "tfidf"
    norm: Annotated[bool, Doc("Whether to scale each kind of n-grams of a text to length 1.")] = True
    lowercase: Annotated[bool, Doc("Whether to lowercase texts.")] = True

    def check_combination(self) -> None:
        """Check the n-gram lengths and the number of columns.

        Raises:
            ConfigError: lengths are not a range, or ``n_features`` is not a power of two.
        """
        self._format()

    def init_moments(self, corpus: Corpus[str]) -> DocumentFrequencies:
        """Return empty document frequencies of n-grams, to which the texts of the corpus are added."""
        form = self._format()
        return DocumentFrequencies(form.n_columns, form.words, form.characters, form.lowercase)

    def solve(self, moments: DocumentFrequencies) -> None:
        """Store the document frequencies, from which tf-idf weights are computed.

        Raises:
            TextError: there are no texts.
        """
        self.frequencies_ = moments
        if not moments.n_texts:
            raise TextError("there are no texts")

    def partial_fit(self, X: Iterable[str], y: object = None) -> Self:
        """Add texts to the document frequencies of n-grams, from which tf-idf weights are computed."""
        if not hasattr(self, "frequencies_"):
            self.validate()
            self.frequencies_ = self.init_moments(InMemoryCorpus(()))
        self.frequencies_.add(count_ngrams(checked_texts(X), self._format()))
        return self

    def transform(self, X: Iterable[str]) -> sp.csr_matrix:
        """Return weighted n-grams of texts as a CSR matrix, float32 (n_texts, n_features)."""
        if self.weighting == "tfidf":
            check_is_fitted(self)
        self.validate()
        form = self._format()
        counts = count_ngrams(checked_texts(X), form)
        if self.weighting != "counts":
            counts.data[:] = 1.0 if self.weighting == "binary" else 1.0 + np.log(counts.data)
        if self.weighting == "tfidf":
            counts.data *= self.frequencies_.idf[counts.indices]
        if self.norm:
            scale_kinds(counts, form.first_character_column)
        return sp.csr_matrix(counts)

    @property
    def n_texts_(self) -> int:
        """Number of texts learned from."""
        return int(self.frequencies_.n_texts)

    @property
    def _n_features_out(self) -> int:
        return self.n_features

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the document frequencies as values and arrays to save in a model folder."""
        return {}, self.frequencies_.arrays()

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Restore the document frequencies of n-grams from saved arrays."""
        empty = self.init_moments(InMemoryCorpus(()))
        empty.check_arrays(arrays)
        self.frequencies_ = empty.restored(arrays.all())

    def _format(self) -> NgramFormat:
        words, characters = checked_pair(self.words), checked_pair(self.characters)
        return NgramFormat(words, characters, self.n_features, self.lowercase)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = self.weighting == "tfidf"
        return tags
