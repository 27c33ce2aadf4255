"""Base class of featurizers that convert texts to rows of weighted words, reduced by a matrix estimator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.estimator import MomentEstimator
from spectralnlp.runtime import Corpus
from spectralnlp.storage import Array, StoredArrays, StoredValues, int_array
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.featurizer import TextFeaturizer, single_precision
from spectralnlp_sketch.hashing.frequencies import DocumentFrequencies
from spectralnlp_sketch.hashing.ngrams import NgramFormat, Ngrams, checked_texts, count_ngrams
from spectralnlp_sketch.matrices import MatrixEstimator
from spectralnlp_sketch.rows import Rows
from spectralnlp_sketch.stream import ConvertedCorpus

# Columns that words are hashed to for counting; the columns of the most frequent words are kept.
HASHED = NgramFormat((1, 1), None, 2**20)


@dataclass(kw_only=True, eq=False, repr=False)
class WordRowsFeaturizer(TextFeaturizer, MomentEstimator[str]):
    """Base class of featurizers that convert texts to rows of weighted words, reduced by a matrix estimator.

    The first pass counts document frequencies of words; later passes fit the matrix estimator to the rows.

    Attributes:
        words_: hashes and idf of the words that have a column in the rows.
        matrices_: the fitted matrix estimator.
        n_texts_: number of texts learned from.
    """

    n_words: Annotated[
        int, Ge(1), Doc("Number of words that have a column; those in the most texts are taken.")
    ] = 5000
    weighting: Annotated[
        Literal["counts", "tfidf"],
        Doc("Weights of words, in rows of length 1: ``counts``, or ``tfidf``, (1 + ln count) · idf."),
    ] = "tfidf"

    @abstractmethod
    def make(self) -> MatrixEstimator:
        """Make the unfitted estimator that reduces rows of words to features; subclasses define it."""

    def init_moments(self, corpus: Corpus[str]) -> DocumentFrequencies:
        """Return empty document frequencies of words, to which the texts of the corpus are added."""
        return DocumentFrequencies(HASHED.n_columns, HASHED.words, None)

    def solve(self, moments: DocumentFrequencies) -> None:
        """Choose the words that get a column: the most frequent ones.

        Raises:
            TextError: there are no texts with words in them.
        """
        self.n_texts_ = int(moments.n_texts)
        by_frequency = np.argsort(-moments.frequencies, kind="stable")[: self.n_words]
        columns = np.sort(by_frequency[moments.frequencies[by_frequency] > 0]).astype(np.int32)
        if not len(columns):
            raise TextError("there are no texts with words in them")
        self.words_ = Ngrams(HASHED, columns, moments.idf[columns])

    def _run_passes(self, corpus: Corpus[str]) -> Self:
        super()._run_passes(corpus)
        row_type = {"n_columns": len(self.words_.columns), "dtype": "float32", "sparse": True}
        self.matrices_: MatrixEstimator = self.make()
        self.matrices_.fit(ConvertedCorpus(corpus, self._block, row_type))
        return self

    def _block(self, texts: Sequence[str], start: int) -> Rows:
        return Rows(self._rows_of(checked_texts(texts)))

    def _rows_of(self, texts: Sequence[str]) -> sp.csr_matrix:
        if self.weighting == "tfidf":
            return sp.csr_matrix(self.words_.rows_of(texts))
        counts = sp.csr_matrix(count_ngrams(texts, HASHED)[:, self.words_.columns])
        return normalize(counts, copy=False)

    def transform(self, X: Iterable[str]) -> Any:
        """Return features of texts, float32 (n_texts, n_features)."""
        check_is_fitted(self)
        estimator: Any = self.matrices_
        return estimator.transform(self._rows_of(checked_texts(X)))

    @property
    def _n_features_out(self) -> int:
        return len(self.matrices_.get_feature_names_out())

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return values and arrays to save: words, idf, and the arrays of the matrix estimator."""
        words = {"columns": self.words_.columns, "idf": self.words_.idf}
        return {"n_texts": self.n_texts_}, {**words, **self._learned()}

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Restore the featurizer from the values and arrays that `to_stored` returned."""
        columns = arrays.take("columns", int_array("n_words", below=HASHED.n_columns, ascending=True))
        idf = arrays.take("idf", single_precision("n_words"))
        self.n_texts_, self.words_ = values.take("n_texts", int), Ngrams(HASHED, columns, idf)
        self.matrices_ = self.make()
        self.matrices_.n_features_in_ = len(columns)
        self._set_learned(arrays.part(n_words=len(columns)))

    @abstractmethod
    def _learned(self) -> dict[str, Array]:
        """Return the arrays that the matrix estimator has learned, to save them."""

    @abstractmethod
    def _set_learned(self, arrays: StoredArrays) -> None:
        """Restore the matrix estimator from the saved arrays that `_learned` returned.

        Args:
            arrays: reader of the saved arrays, which also checks their shapes. In the expected shapes,
                ``n_words`` stands for the number of words.
        """
