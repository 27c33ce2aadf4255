"""``sent.v1`` and ``sent-plus.v1``: counts of n-grams beside their projection on sketched directions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from spectralnlp.linalg import one_blas_thread
from spectralnlp_sketch.errors import SizeError, TextError
from spectralnlp_sketch.frequent_directions.estimator import FrequentDirections
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_texts, count_ngrams, spaced_words

Floats = NDArray[Any]
OWN_FOLDS = 5
POSITION_COLUMNS = 2**14
"""Columns that the first words of queries are hashed to, for each place."""


class SENT(TransformerMixin, BaseEstimator):
    """x ⊕ Πx/‖Πx‖: counts of 1- to 3-grams beside their projection, by equation 2 of the paper.

    Π are the leading directions of a frequent-directions sketch of the counts of unlabelled queries. As
    published the projection has length 1, whatever the length of x; ``scale`` relates the two.

    Args:
        sketch_size: rows of the sketch.
        n_components: directions of Π; None: all that the sketch has.
        words: shortest and longest n-gram of words.
        n_features: columns that n-grams are hashed to, a power of two.
        scale: length of the projection: None, 1 as published; a number, so much of the mean length of x.
        random_state: seed of the sketch.

    Attributes:
        sketch_: `FrequentDirections`.
        length_: of projections.
    """

    def __init__(
        self,
        sketch_size: int = 300,
        n_components: int | None = None,
        words: tuple[int, int] = (1, 3),
        n_features: int = 2**18,
        scale: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.sketch_size = sketch_size
        self.n_components = n_components
        self.words = words
        self.n_features = n_features
        self.scale = scale
        self.random_state = random_state

    def fit(
        self, X: Iterable[str], y: Sequence[str] | None = None, unlabelled: Iterable[str] | None = None
    ) -> Self:
        """Learn Π from the unlabelled queries and those of X.

        Args:
            X: queries.
            y: their labels; ignored.
            unlabelled: more queries.

        Raises:
            TextError: there are no queries.
        """
        self._learn(list(checked_texts(X)), y, [] if unlabelled is None else list(checked_texts(unlabelled)))
        return self

    def transform(self, X: Iterable[str]) -> sp.csr_matrix:
        """float32 (n, columns + n_components): x and its projection."""
        check_is_fitted(self, "sketch_")
        return self._with_projection(self._rows(checked_texts(X)))

    def _learn(self, texts: list[str], y: Sequence[str] | None, unlabelled: list[str]) -> None:
        self._sketch(self._rows([*texts, *unlabelled]))

    def _rows(self, texts: Sequence[str]) -> sp.csr_array:
        """What is counted of each query, x."""
        return count_ngrams(texts, NgramFormat(self.words, None, self.n_features))

    def _sketch(self, rows: sp.csr_array) -> None:
        if self.scale is not None and not self.scale > 0:
            raise SizeError(f"scale must be positive, not {self.scale}", hint="None is as published")
        if not rows.nnz:
            raise TextError("there are no queries with words in them")
        sketch = FrequentDirections(
            self.sketch_size, n_components=self.n_components, random_state=self.random_state
        )
        self.sketch_ = sketch.fit(sp.csr_matrix(rows))
        lengths = np.sqrt(np.asarray(rows.power(2).sum(axis=1)))
        self.length_ = 1.0 if self.scale is None else self.scale * float(lengths.mean())

    def _with_projection(self, rows: sp.csr_array) -> sp.csr_matrix:
        with one_blas_thread():
            projection = rows @ self.sketch_.components_.T
        lengths = np.maximum(np.linalg.norm(projection, axis=1, keepdims=True), 1e-12)
        dense = (self.length_ * projection / lengths).astype(np.float32)
        return sp.csr_matrix(sp.hstack([rows, sp.csr_array(dense)], format="csr"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags


class SENTPlus(SENT):
    """SENT whose x also has the first two words of a query, and the intent that a first model predicts.

    The first model is a Crammer–Singer SVM over the counts. What it predicts of the queries that it learned
    from is predicted without them, five parts in turn: `fit_transform` gives such rows, `transform` those of
    other queries.

    Args:
        sketch_size, n_components, words, n_features, scale, random_state: as in `SENT`.
        C: of the first model.

    Attributes:
        sketch_, length_: as in `SENT`.
        classes_: the intents.
        first_model_: the first model.
    """

    def __init__(
        self,
        sketch_size: int = 300,
        n_components: int | None = None,
        words: tuple[int, int] = (1, 3),
        n_features: int = 2**18,
        scale: float | None = None,
        C: float = 1.0,
        random_state: int = 0,
    ) -> None:
        super().__init__(sketch_size, n_components, words, n_features, scale, random_state)
        self.C = C

    def fit_transform(
        self,
        X: Iterable[str],
        y: Sequence[str] | None = None,
        unlabelled: Iterable[str] | None = None,
    ) -> sp.csr_matrix:
        """Fit, and the rows of X with predictions of models that had not seen them."""
        texts = list(checked_texts(X))
        own = self._learn(texts, y, [] if unlabelled is None else list(checked_texts(unlabelled)))
        return self._with_projection(own)

    def _learn(self, texts: list[str], y: Sequence[str] | None, unlabelled: list[str]) -> Any:
        if y is None or len(y) != len(texts):
            raise TextError("SENT+ needs the intent of each query", hint="give as many labels as texts")
        if len(set(y)) < 2 or len(texts) < OWN_FOLDS:
            raise TextError(f"SENT+ needs two intents and {OWN_FOLDS} queries")
        counts = sp.csr_matrix(super()._rows(texts))
        first_model = LinearSVC(C=self.C, multi_class="crammer_singer", random_state=self.random_state)
        self.first_model_ = first_model.fit(counts, y)
        self.classes_ = self.first_model_.classes_
        folds = KFold(OWN_FOLDS, shuffle=True, random_state=self.random_state)
        unseen = cross_val_predict(first_model, counts, y, cv=folds)
        own = self._joined(texts, sp.csr_array(counts), unseen)
        rows = [own, self._rows(unlabelled)] if unlabelled else [own]
        self._sketch(sp.csr_array(sp.vstack(rows, format="csr")))
        return own

    def _rows(self, texts: Sequence[str]) -> sp.csr_array:
        counts = super()._rows(texts)
        return self._joined(texts, counts, self.first_model_.predict(sp.csr_matrix(counts)))

    def _joined(self, texts: Sequence[str], counts: sp.csr_array, intents: NDArray[Any]) -> sp.csr_array:
        """Counts, the first two words and the intent."""
        lines = [line.split(maxsplit=2) for line in spaced_words(texts)]
        form = NgramFormat((1, 1), None, POSITION_COLUMNS)
        places = [count_ngrams([" ".join(line[at : at + 1]) for line in lines], form) for at in (0, 1)]
        one_hot = sp.csr_array(np.eye(len(self.classes_), dtype=np.float32)[
            np.searchsorted(self.classes_, intents)
        ])  # fmt: skip
        return sp.csr_array(sp.hstack([counts, *places, one_hot], format="csr"))
