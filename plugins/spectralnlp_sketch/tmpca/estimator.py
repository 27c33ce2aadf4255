"""`TMPCA`, the transformer."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.tmpca.information import StageReport, report_of
from spectralnlp_sketch.tmpca.lookup import Lookup
from spectralnlp_sketch.tmpca.moments import PositionMoments, StageMoments, centred, extend
from spectralnlp_sketch.tmpca.segments import Elements, to_length
from spectralnlp_sketch.tmpca.stream import BATCH, ElementsCorpus, SequenceCorpus
from spectralnlp_sketch.words import prepare, stop_list

Floats = NDArray[Any]


class TMPCA(TransformerMixin, ClassNamePrefixFeaturesOutMixin, BaseEstimator):
    """Tree-structured multi-stage PCA: a sequence of vectors of D numbers to one vector of D numbers.

    Su, Lin and Kuo 2019. At each stage P neighbours, side by side, are reduced to their D leading principal
    components, until one is left: log_P N decompositions of PD × PD in the place of one of ND × ND.

    An example is a text, a list of tokens, or an array (n, D). Sequences longer than N become the means of N
    segments, shorter ones are padded.

    Args:
        vectors: word vectors: `spectralnlp.models.Vectors`, a mapping from words to arrays (D,), or gensim's
            KeyedVectors. None: examples are arrays.
        length: N, a power of P.
        branching: P.
        mask_padding: whether padding stands at the mean and is in no sum. False, as published: it is zero
            like any other vector, and on short texts its presence is the leading variance.
        bigrams: whether a text's bigrams follow its words (section 4.3.1).
        stop_words: of texts: ``english``, a set of words, or None: no word is left out.
        stem: whether words of texts are stemmed (Porter); their vectors must be those of stems.

    Attributes:
        means_: float64 (N, D), of each position.
        stages_: U^s (D, PD) of each stage, orthonormal rows, the entry of largest magnitude positive.
        system_matrix_: U (D, ND), orthonormal rows: y = U(x − mean).
        report_: a `StageReport` a stage.
        n_sequences_: sequences seen.
    """

    def __init__(
        self,
        vectors: Any = None,
        *,
        length: int = 8,
        branching: int = 2,
        mask_padding: bool = True,
        bigrams: bool = False,
        stop_words: str | Collection[str] | None = None,
        stem: bool = False,
    ) -> None:
        self.vectors = vectors
        self.length = length
        self.branching = branching
        self.mask_padding = mask_padding
        self.bigrams = bigrams
        self.stop_words = stop_words
        self.stem = stem

    def fit(self, X: Any, y: object = None) -> Self:
        """Learn the stages, one pass over the sequences each, on the current engine.

        Args:
            X: texts, lists of tokens or arrays; an array (m, n, D); or a corpus of any of these.
            y: ignored.

        Raises:
            SizeError: a setting makes no sense.
            MatrixError: there are no sequences, none of their words has a vector, widths differ, or an array
                holds a NaN or an infinity (which sequence).
        """
        n_stages = self._n_stages()
        self._open_vectors(X)
        with one_blas_thread():
            corpus = self._corpus(X)
            means = self.means_ = self._means(corpus)
            self.stages_: list[Floats] = []
            self.report_: list[StageReport] = []
            system: Floats | None = None
            energy = 0.0
            for stage in range(1, n_stages + 1):
                # A stream is read again and goes through all stages so far; in memory, through the last one.
                before = None if isinstance(corpus, ElementsCorpus) else system
                moments = StageMoments(means, self.branching, before)
                accumulate(moments, corpus, batch_size=BATCH)
                kept, rows = leading_components(moments.scatter, self.size_)
                energy = energy or float(np.trace(moments.scatter))
                elements = self.length // self.branching**stage
                self.report_.append(report_of(stage, elements, kept, int(moments.n_rows), energy))
                self.stages_.append(rows)
                system = extend(rows, system)
                if isinstance(corpus, ElementsCorpus) and stage < n_stages:
                    corpus, means = corpus.through(rows, means), np.zeros((elements, self.size_))
        assert system is not None
        self.system_matrix_ = system
        return self

    def transform(self, X: Any) -> Floats:
        """One vector of D numbers for each sequence (m, D); zero where no word has a vector.

        Raises:
            MatrixError: as for `fit`.
        """
        check_is_fitted(self)
        with one_blas_thread():
            parts = [self._transform(batch.examples) for batch in self._corpus(X).batches(BATCH)]
        return np.concatenate(parts) if parts else np.empty((0, self.size_))

    def _transform(self, elements: Any) -> Floats:
        rows = centred(elements, self.means_).reshape(len(elements), self.means_.size)
        return np.asarray(rows @ self.system_matrix_.T.astype(rows.dtype))

    def _means(self, corpus: Corpus[Any]) -> Floats:
        moments = accumulate(PositionMoments(self.length, self.size_), corpus, batch_size=BATCH)
        self.n_sequences_ = int(moments.n_rows)
        if not self.n_sequences_:
            raise MatrixError("there are no sequences to learn from")
        if not moments.counts.any() or (self.vectors is not None and not moments.sums.any()):
            hint = "are they of the same language, case and stems?"
            raise MatrixError("no word of any sequence has a vector", hint=hint)
        return moments.means

    def _n_stages(self) -> int:
        if self.branching < 2:
            raise SizeError(f"branching must be 2 or more, not {self.branching}")
        stages, reached = 0, 1
        while reached < self.length:
            stages, reached = stages + 1, reached * self.branching
        if stages == 0 or reached != self.length:
            what = f"length must be a power of branching ({self.branching}), not {self.length}"
            raise SizeError(what, hint=f"take {reached if stages else self.branching}")
        stop_list(self.stop_words)
        return stages

    # -----------------------------------------------------------------------------------------------------
    # From what users have to elements

    def _open_vectors(self, X: Any) -> None:
        """Set where vectors are looked up, and D."""
        self._lookup = None if self.vectors is None else Lookup(self.vectors)
        if self._lookup is not None:
            self.size_ = self._lookup.size
            return
        first = next(iter(X), None)
        if first is None:
            raise MatrixError("there are no sequences to learn from")
        if not isinstance(first, np.ndarray) or first.ndim != 2:
            raise MatrixError("sequence 0 is no array (n, D)", hint="give vectors for words")
        self.size_ = first.shape[1]

    def _corpus(self, X: Any) -> Corpus[Any]:
        if isinstance(X, Corpus):
            return SequenceCorpus(X, self._to_elements)
        if isinstance(X, str):
            raise MatrixError("one string where many texts are expected", hint="put it in a list")
        return ElementsCorpus(self._to_elements(X if isinstance(X, np.ndarray) else list(X), 0))

    def _to_elements(self, examples: Any, start: int) -> Elements:
        if isinstance(examples, np.ndarray) and examples.shape[1:] == (self.length, self.size_):
            _check_finite(examples.reshape(len(examples), self.length * self.size_), start)
            return Elements(_floats(examples), np.ones(examples.shape[:2], bool))
        arrays = [self._array(example, start + i) for i, example in enumerate(examples)]
        dtype = np.result_type(np.float32, *{each.dtype for each in arrays})
        elements = to_length(arrays, self.length, self.size_, dtype)
        return elements if self.mask_padding else Elements(elements.values, np.ones_like(elements.real))

    def _array(self, example: Any, number: int) -> Floats:
        """The vectors of a text, of tokens, or those given (n, D)."""
        if isinstance(example, np.ndarray) and example.dtype.kind in "fiu":
            if example.ndim != 2 or example.shape[1] != self.size_:
                what = f"sequence {number} has the shape {example.shape} where (n, {self.size_}) is expected"
                raise MatrixError(what, hint="all vectors must be of one length")
            _check_finite(example.reshape(1, -1), number)
            return example
        if self._lookup is None:
            raise MatrixError(f"sequence {number} is no array (n, D)", hint="give vectors for words")
        if isinstance(example, str):
            return self._lookup(prepare(example, self.stop_words, self.stem), self.bigrams)
        if not isinstance(example, Iterable):
            raise MatrixError(f"sequence {number} is neither text, tokens nor an array (n, D)")
        return self._lookup([str(token) for token in example], self.bigrams)

    @property
    def _n_features_out(self) -> int:
        return self.size_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def tmpca_classifier(
    vectors: Any, *, hidden: tuple[int, ...] = (), random_state: int = 0, **settings: Any
) -> Pipeline:
    """TMPCA, columns scaled, and a small dense network: what the paper classifies with (figure 1, table 3).

    Args:
        vectors: word vectors, as for `TMPCA`.
        hidden: units of hidden layers; none is the paper's network of one dense layer, logistic regression.
        random_state: seed of the network's first weights.
        settings: of `TMPCA`.
    """
    dense = (
        MLPClassifier(hidden, early_stopping=True, random_state=random_state)
        if hidden
        else LogisticRegression(max_iter=1000)
    )
    return make_pipeline(TMPCA(vectors, **settings), StandardScaler(), dense)


def leading_components(scatter: Floats, n: int) -> tuple[Floats, Floats]:
    """The n largest eigenvalues (n,) of a scatter matrix and their vectors (n, width), signs fixed."""
    values, vectors = np.linalg.eigh(scatter)
    rows = vectors[:, ::-1][:, :n].T
    signs = np.sign(rows[np.arange(n), np.abs(rows).argmax(axis=1)])
    return np.maximum(values[::-1][:n], 0.0), rows * signs[:, None]


def _floats(array: Floats) -> Floats:
    return array if array.dtype in (np.float32, np.float64) else array.astype(np.float64)


def _check_finite(rows: Floats, start: int) -> None:
    """Refuse a NaN or an infinity, by its sequence."""
    if np.isfinite(rows).all():
        return
    number = start + int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
    raise MatrixError(f"sequence {number} (counted from 0) holds a NaN or an infinity")
