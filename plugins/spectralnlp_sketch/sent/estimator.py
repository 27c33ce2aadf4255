"""Featurizers SENT (``sent.v1``) and SENT+ (``sent-plus.v1``): n-gram counts, projected to few dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.estimator import MomentEstimator, Unlearning
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, MappedCorpus, Moments
from spectralnlp.storage import Array, StoredArrays, StoredValues, int_array
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.featurizer import TextFeaturizer, single_precision
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_pair, checked_texts, count_ngrams
from spectralnlp_sketch.intent.text_log import TextLog
from spectralnlp_sketch.labelled import as_example, distinct_labels, labelled_corpus
from spectralnlp_sketch.sent.intents import IntentModel, Ints, predict_held_out
from spectralnlp_sketch.sent.moments import (
    POSITION_COLUMNS,
    ExtendedDirections,
    LabelledQueries,
    NgramDirections,
    extended,
)
from spectralnlp_sketch.transformer import leading_directions

Array32 = NDArray[np.float32]


@dataclass(kw_only=True, eq=False, repr=False)
class SENT(TextFeaturizer, MomentEstimator[Any]):
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

    unlearning: ClassVar[Unlearning] = "merge-only"

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
    output: Annotated[
        Literal["projection", "all"],
        Doc("``projection``, dense; or ``all``, counts and projection, sparse (the paper's equation 2)."),
    ] = "projection"

    def check_combination(self) -> None:
        """Check the n-gram lengths and the number of columns.

        Raises:
            ConfigError: lengths are not a range, or ``n_features`` is not a power of two.
        """
        self._format()

    def _format(self) -> NgramFormat:
        return NgramFormat(self._lengths(), None, self.n_features)

    def _lengths(self) -> tuple[int, int]:
        words = checked_pair(self.words)
        assert words is not None
        return words

    def init_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Return an empty sketch of n-gram counts, to which texts are added."""
        return NgramDirections(self.sketch_size, self.n_features, self._lengths(), seed=self.random_state)

    def solve(self, moments: Any) -> Moments[Any] | None:
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
        return None

    def transform(self, X: Iterable[str]) -> Any:
        """Return the scaled projections Πx/‖Πx‖ of texts, after their counts x if ``output="all"``.

        Args:
            X: texts.

        Returns:
            Features, float32 (n, k); with ``output="all"``, CSR float32 (n, columns + k).
        """
        check_is_fitted(self)
        return self._output(self._rows(checked_texts(X)))

    def _rows(self, texts: Sequence[str]) -> sp.csr_array:
        """Return the counts x of texts (n, columns)."""
        return count_ngrams(texts, self._format())

    def _output(self, rows: sp.csr_array) -> Any:
        with one_blas_thread():
            projection = rows @ self.directions_.T
        lengths = np.maximum(np.linalg.norm(projection, axis=1, keepdims=True), 1e-12)
        scaled = np.asarray(projection / lengths, np.float32)
        if self.output == "projection":
            return scaled
        return sp.csr_matrix(sp.hstack([rows, sp.csr_array(scaled)], format="csr"))

    @property
    def _n_features_out(self) -> int:
        k, columns = self.directions_.shape
        return k + (columns if self.output == "all" else 0)

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return the values (error bound, number of texts) and the array (Π) to save in a model folder."""
        return {"bound": self.bound_, "n_texts": self.n_texts_}, {"directions": self.directions_}

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Restore the featurizer from the values and arrays that `to_stored` returned."""
        self.bound_, self.n_texts_ = values.take("bound", float), values.take("n_texts", int)
        self.directions_ = arrays.take("directions", single_precision("k", self._n_columns()))

    def _n_columns(self) -> int:
        return self.n_features


@dataclass(kw_only=True, eq=False, repr=False)
class SENTPlus(SENT):
    """SENT+, a featurizer that extends the n-gram counts of `SENT` before projecting them.

    The columns added to the counts x of a query are its first and its second word, and its intent as
    predicted by a Crammer–Singer SVM (the first model) that is trained on the counts of labelled queries. For
    the labelled queries themselves, intents are predicted by five-fold cross-validation, in `fit` and in
    `fit_transform`; `transform` is for other queries. Queries whose label is None add to the projection Π
    alone.

    Memory does not depend on the number of unlabelled queries. The first pass stores the labelled queries,
    the second sketches the extended counts.

    Attributes:
        directions_: as for `SENT`.
        bound_: as for `SENT`.
        n_texts_: number of queries learned from, labelled or not.
        classes_: names of the intents, sorted.
        first_model_: the SVM that predicts intents.
        held_out_: index in ``classes_`` of the intent that cross-validation predicts for each labelled
            training query, int64 (n_labelled,); not saved.

    Examples:
        >>> from spectralnlp_sketch import SENTPlus
        >>> texts = ["how much is it", "what does it cost", "when does it leave", "at what hour is the boat"]
        >>> labels = ["price", "price", "times", "times"]
        >>> SENTPlus(sketch_size=8).fit(texts, labels).transform(texts).shape
        (4, 4)
    """

    unlearning = "replay"
    task = "labelled-features"

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[Any]:
        """Return queries and their labels as a corpus of examples.

        Args:
            X: queries; or (query, label) pairs, or records, as a list or a corpus.
            y: labels, None for an unlabelled query; None if X holds the labels.

        Raises:
            TextError: the numbers of labels and queries differ, or an element is not a text.
        """
        return MappedCorpus(labelled_corpus(X, y), as_example)

    def init_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Return an empty store of labelled queries, for the first pass."""
        return LabelledQueries()

    def solve(self, moments: Any) -> Moments[Any] | None:
        """Train the SVM that predicts intents after the first pass, and compute Π after the second.

        Raises:
            TextError: there are fewer than two intents, or no queries with words in them.
        """
        if isinstance(moments, LabelledQueries):
            return self._learn_intents(moments)
        moments.observe_rows(self.labelled_rows_)
        del self.labelled_rows_
        return super().solve(moments)

    def _learn_intents(self, moments: LabelledQueries) -> ExtendedDirections:
        examples = list(moments.corpus())
        texts, labels = [each.text for each in examples], [each.label for each in examples]
        self.classes_ = distinct_labels(labels)
        index = {label: number for number, label in enumerate(self.classes_.tolist())}
        intents = np.array([index[label] for label in labels], np.int64)
        counts = super()._rows(texts)
        if not counts.nnz:
            raise TextError("there are no labelled queries with words in them")
        known = (counts, intents, len(self.classes_), self.random_state)
        self.first_model_ = IntentModel.learn(*known)
        self.held_out_ = predict_held_out(*known)
        self.labelled_rows_ = self._extended(texts, counts, self.held_out_)
        sizes = (self.sketch_size, self.n_features, self._lengths())
        return ExtendedDirections(*sizes, *self.first_model_, seed=self.random_state)

    def init_kept_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Return an empty store of all queries: a sketch is not enough, since it depends on the SVM."""
        return TextLog()

    def solve_kept(self, moments: TextLog) -> Self:
        """Learn from a store of queries, by both passes over it."""
        self.validate()
        return self._run_passes(moments.corpus())

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return features of the training queries, with intents predicted by cross-validation.

        Args:
            X: see `as_corpus`.
            y: see `as_corpus`.

        Returns:
            Features of each query, in the order of X, as `transform` returns them.
        """
        corpus = self.as_corpus(X, y)
        self.fit(corpus)
        examples = list(corpus)
        texts = [each.text for each in examples]
        counts = super()._rows(texts)
        intents = self.first_model_.predict(counts)
        intents[[each.label is not None for each in examples]] = self.held_out_
        return self._output(self._extended(texts, counts, intents))

    def _rows(self, texts: Sequence[str]) -> sp.csr_array:
        counts = super()._rows(texts)
        return self._extended(texts, counts, self.first_model_.predict(counts))

    def _extended(self, texts: Sequence[str], counts: sp.csr_array, intents: Ints) -> sp.csr_array:
        return extended(texts, counts, intents, len(self.classes_))

    def to_stored(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return what `SENT` stores, the names of the intents, and the SVM that predicts them."""
        values, arrays = super().to_stored()
        model = {f"intent_{name}": each for name, each in self.first_model_._asdict().items()}
        return {**values, "intents": self.classes_.tolist()}, {**arrays, **model}

    def read_stored(self, values: StoredValues, arrays: StoredArrays) -> None:
        """Restore the featurizer from the values and arrays that `to_stored` returned."""
        self.classes_ = np.array(values.take("intents", list[str | int | float]))
        sized = arrays.part(n_intents=len(self.classes_))
        self.first_model_ = IntentModel(
            sized.take("intent_columns", int_array("n_used", below=self.n_features, ascending=True)),
            sized.take("intent_weights", single_precision("n_used", "n_intents")),
            sized.take("intent_biases", single_precision("n_intents")),
        )
        super().read_stored(values, arrays)

    def _n_columns(self) -> int:
        return self.n_features + 2 * POSITION_COLUMNS + len(self.classes_)
