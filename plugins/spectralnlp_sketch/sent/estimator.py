"""Featurizers SENT (``sent.v1``) and SENT+: n-gram counts of queries, projected to few dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.estimator import Estimator, IterativeEstimator, MomentEstimator
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus
from spectralnlp.storage import Array, StoredArrays, StoredValues
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.featurizer import TextFeaturizer, single_precision
from spectralnlp_sketch.frequent_directions.estimator import FrequentDirections
from spectralnlp_sketch.hashing.ngrams import (
    NgramFormat,
    checked_pair,
    checked_texts,
    count_ngrams,
    spaced_words,
)
from spectralnlp_sketch.labelled import Example, TextInput, labelled_corpus, split_by_label
from spectralnlp_sketch.sent.moments import NgramDirections
from spectralnlp_sketch.transformer import leading_directions

Array32 = NDArray[np.float32]
OWN_FOLDS = 5
# Number of columns that the first word of a query is hashed to, and also the second.
POSITION_COLUMNS = 2**14


@dataclass(kw_only=True, eq=False, repr=False)
class _Projection(Estimator[Any]):
    """Base class of SENT and SENT+, with the settings for counting n-grams and projecting the counts.

    Attributes:
        directions_: projection matrix Π, float32 (k, columns), with orthonormal rows.
    """

    sketch_size: Annotated[int, Ge(1), Doc("Number of rows of the sketch.")] = field(
        default=300, kw_only=False
    )
    n_components: Annotated[
        Annotated[int, Ge(1)] | None,
        Doc("Number of directions of Π; None for all directions of the sketch."),
    ] = None
    words: Annotated[tuple[int, int] | list[int], Doc("Shortest and longest n-gram of words.")] = (1, 3)
    n_features: Annotated[
        int, Ge(2), Doc("Number of columns that n-grams are hashed to, a power of two.")
    ] = 2**16
    random_state: Annotated[int, Ge(0), Doc("Seed of the sketch.")] = 0

    def check_combination(self) -> None:
        """Check the n-gram lengths and the number of columns.

        Raises:
            ConfigError: lengths are not a range, or ``n_features`` is not a power of two.
        """
        self._format()

    def _format(self) -> NgramFormat:
        return NgramFormat(checked_pair(self.words), None, self.n_features)

    def _counts(self, texts: Sequence[str]) -> sp.csr_array:
        return count_ngrams(texts, self._format())


def _projected(rows: sp.csr_array, directions: Array32) -> Array32:
    """Return the projections of rows x scaled to length 1, Πx/‖Πx‖, or 0 if Πx is 0; float32 (n, k).

    Args:
        rows: n-gram counts x (n, columns).
        directions: projection matrix Π (k, columns).
    """
    with one_blas_thread():
        projection = rows @ directions.T
    lengths = np.maximum(np.linalg.norm(projection, axis=1, keepdims=True), 1e-12)
    return np.asarray(projection / lengths, np.float32)


def _with_projection(rows: sp.csr_array, directions: Array32) -> sp.csr_matrix:
    projection = sp.csr_array(_projected(rows, directions))
    return sp.csr_matrix(sp.hstack([rows, projection], format="csr"))


@dataclass(kw_only=True, eq=False, repr=False)
class SENT(_Projection, TextFeaturizer, MomentEstimator[str]):
    """Featurizer that projects the word n-gram counts x of a text to few dimensions: Πx/‖Πx‖.

    Kim, Stratos and Sarikaya 2015. The rows of Π are the leading directions of a frequent-directions sketch
    of the counts of unlabelled queries, so memory does not depend on the number of queries. With
    ``output="all"``, features are the counts x followed by the projection (equation 2 of the paper).

    Attributes:
        directions_: projection matrix Π, float32 (k, columns), with orthonormal rows.
        bound_: upper bound of ‖XᵀX − BᵀB‖₂ for counts X and sketch B; 0 for at most ``sketch_size`` texts.
        n_texts_: number of texts learned from.

    Examples:
        >>> from spectralnlp_sketch import SENT
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
        >>> SENT(sketch_size=8).fit(texts).transform(texts).shape
        (4, 4)
    """

    unlearning = "merge-only"

    output: Annotated[
        Literal["projection", "all"],
        Doc("``projection``, dense; or ``all``, counts and projection, sparse (the paper's equation 2)."),
    ] = "projection"

    def init_moments(self, corpus: Corpus[str]) -> NgramDirections:
        """Return an empty sketch of n-gram counts, to which texts are added."""
        words = checked_pair(self.words)
        assert words is not None
        return NgramDirections(self.sketch_size, self.n_features, words, seed=self.random_state)

    def solve(self, moments: NgramDirections) -> None:
        """Compute the leading directions of the sketch.

        Raises:
            TextError: there are no queries with words in them.
        """
        if not moments.squared_norm:
            raise TextError("there are no queries with words in them")
        sketch = moments.sketch
        _, directions = leading_directions(sketch.rows, orthogonal=True)
        self.directions_ = directions[: self.n_components].astype(np.float32, copy=False)
        self.bound_, self.n_texts_ = sketch.bound, moments.n_rows

    def transform(self, X: Iterable[str]) -> Any:
        """Return the scaled projections Πx/‖Πx‖ of texts, after their counts x if ``output="all"``.

        Args:
            X: texts.

        Returns:
            Features, float32 (n, k); with ``output="all"``, CSR float32 (n, columns + k).
        """
        check_is_fitted(self)
        rows = self._counts(checked_texts(X))
        return (_projected if self.output == "projection" else _with_projection)(rows, self.directions_)

    @property
    def _n_features_out(self) -> int:
        return len(self.directions_) + (self.n_features if self.output == "all" else 0)

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the values (error bound, number of texts) and the array (Π) to save in a model folder."""
        return {"bound": self.bound_, "n_texts": self.n_texts_}, {"directions": self.directions_}

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Restore the featurizer from the values and arrays that `to_stored` returned."""
        self.bound_, self.n_texts_ = values.take("bound", float), values.take("n_texts", int)
        self.directions_ = arrays.take("directions", single_precision("k", self.n_features))


@dataclass(kw_only=True, eq=False, repr=False)
class SENTPlus(_Projection, TextInput, IterativeEstimator[Example], TransformerMixin, BaseEstimator):
    """SENT+, a featurizer that extends the n-gram counts of `SENT` before projecting them.

    The columns added to the counts x of a query are its first and its second word, and its intent as
    predicted by a Crammer–Singer SVM (the first model) that is trained on the counts of labelled queries. For
    training queries, `fit_transform` predicts intents by five-fold cross-validation; `transform` is for other
    queries. Queries whose label is None are used only to learn the projection Π.

    Attributes:
        directions_: as for `SENT`.
        classes_: names of the intents, sorted.
        first_model_: the SVM that predicts intents.

    Examples:
        >>> from spectralnlp_sketch import SENTPlus
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
        >>> labels = ["price", "price", "times", "times"]
        >>> SENTPlus(sketch_size=8).fit(texts * 2, labels * 2).transform(texts).shape[0]
        4
    """

    task = "labelled texts"

    as_corpus = staticmethod(labelled_corpus)

    def fit_transform(self, X: Any, y: Any = None) -> sp.csr_matrix:
        """Fit, and return features of the training queries, with intents predicted by cross-validation.

        Args:
            X: queries, or (query, label) pairs.
            y: labels, None for an unlabelled query.

        Returns:
            The extended counts x of each query, followed by their projection, CSR float32 (n, columns + k).
            Rows of labelled queries come first. If there are very many unlabelled queries, only a sample of
            them is used.
        """
        self.validate()
        with one_blas_thread():
            rows = self._learn(self.as_corpus(X, y))
            return _with_projection(rows, self.directions_)

    def learn(self, corpus: Corpus[Example]) -> None:
        """Train the SVM that predicts intents on labelled queries, and learn Π from all queries.

        Raises:
            TextError: there are fewer than two intents or five labelled queries.
        """
        self._learn(corpus)

    def _learn(self, corpus: Corpus[Example]) -> sp.csr_array:
        """Train the SVM, learn Π, and return the extended counts of all queries, the labelled ones first."""
        texts, labels, unlabelled, _ = split_by_label(corpus)
        if not labels and unlabelled:
            raise TextError("SENT+ needs the intent of each query", hint="give as many labels as texts")
        if len(set(labels)) < 2 or len(texts) < OWN_FOLDS:
            raise TextError(f"SENT+ needs two intents and {OWN_FOLDS} queries")
        counts = sp.csr_matrix(self._counts(texts))
        first_model = LinearSVC(multi_class="crammer_singer", random_state=self.random_state)
        self.first_model_ = first_model.fit(counts, labels)
        self.classes_ = self.first_model_.classes_
        folds = KFold(OWN_FOLDS, shuffle=True, random_state=self.random_state)
        unseen = cross_val_predict(first_model, counts, labels, cv=folds)
        rows = self._joined(texts, sp.csr_array(counts), unseen)
        if unlabelled:
            rows = sp.csr_array(sp.vstack([rows, self._rows(unlabelled)], format="csr"))
        sketch = FrequentDirections(
            sketch_size=self.sketch_size, n_components=self.n_components, random_state=self.random_state
        )
        self.directions_ = sketch.fit(sp.csr_matrix(rows)).components_
        return rows

    def transform(self, X: Iterable[str]) -> sp.csr_matrix:
        """Return the extended counts x of each query and their projection, CSR float32 (n, columns + k)."""
        check_is_fitted(self)
        return _with_projection(self._rows(checked_texts(X)), self.directions_)

    def _rows(self, texts: Sequence[str]) -> sp.csr_array:
        counts = self._counts(texts)
        return self._joined(texts, counts, self.first_model_.predict(sp.csr_matrix(counts)))

    def _joined(self, texts: Sequence[str], counts: sp.csr_array, intents: NDArray[Any]) -> sp.csr_array:
        """Return the extended counts x of queries: n-gram counts, the first two words, and the intent.

        Args:
            texts: queries to extend.
            counts: n-gram counts of the queries (n, columns).
            intents: predicted intent of each query.
        """
        lines = [line.split(maxsplit=2) for line in spaced_words(texts)]
        form = NgramFormat((1, 1), None, POSITION_COLUMNS)
        places = [count_ngrams([" ".join(line[at : at + 1]) for line in lines], form) for at in (0, 1)]
        known = np.searchsorted(self.classes_, intents)
        one_hot = sp.csr_array(np.eye(len(self.classes_), dtype=np.float32)[known])
        return sp.csr_array(sp.hstack([counts, *places, one_hot], format="csr"))
