"""``hashed-ngrams.v1``: texts to weighted columns, in one pass and without a vocabulary."""

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
    """N-grams of words and characters in columns that a public hash gives them.

    Nothing is remembered but document frequencies, and those only for tf-idf: counts of other weightings
    need no ``fit``. A text's columns are the same in every process and version.

    A linear model of scikit-learn's has a weight for each column and label: with the default it learns from
    thousands of texts in seconds. 2²⁰ columns, in which fewer n-grams share one, may take it minutes.

    Attributes:
        frequencies_: `DocumentFrequencies` of what was fitted on; merge, add to and take from them.

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
            "Shortest and longest n-gram of characters inside words, the blanks around a word "
            "included; None for none."
        ),
    ] = (2, 5)
    n_features: Annotated[
        int,
        Ge(2),
        Doc("Columns, a power of two; words have the lower half where there are both."),
    ] = field(default=2**16, kw_only=False)
    weighting: Annotated[
        Literal["counts", "binary", "tfidf"],
        Doc("``counts``; ``binary``; or ``tfidf``, (1 + ln count) · idf."),
    ] = "tfidf"
    norm: Annotated[bool, Doc("Whether each kind of n-grams of a text is scaled to length 1.")] = True
    lowercase: Annotated[bool, Doc("Whether texts are put in small letters.")] = True

    def check_combination(self) -> None:
        """Check which n-grams are counted.

        Raises:
            ConfigError: lengths are no range, or ``n_features`` is no power of two.
        """
        self._format()

    def init_moments(self, corpus: Corpus[str]) -> DocumentFrequencies:
        """Return empty document frequencies."""
        form = self._format()
        return DocumentFrequencies(form.n_columns, form.words, form.characters, form.lowercase)

    def solve(self, moments: DocumentFrequencies) -> None:
        """Keep the document frequencies.

        Raises:
            TextError: there are no texts.
        """
        self.frequencies_ = moments
        if not moments.n_texts:
            raise TextError("there are no texts")

    def partial_fit(self, X: Iterable[str], y: object = None) -> Self:
        """Add texts to those that were counted before."""
        if not hasattr(self, "frequencies_"):
            self.validate()
            self.frequencies_ = self.init_moments(InMemoryCorpus(()))
        self.frequencies_.add(count_ngrams(checked_texts(X), self._format()))
        return self

    def transform(self, X: Iterable[str]) -> sp.csr_matrix:
        """float32 (n_texts, n_features)."""
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
        """Texts learned from."""
        return int(self.frequencies_.n_texts)

    @property
    def _n_features_out(self) -> int:
        return self.n_features

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Document frequencies."""
        return {}, self.frequencies_.arrays()

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Set them."""
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
