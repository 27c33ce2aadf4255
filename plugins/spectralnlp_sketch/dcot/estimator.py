"""`DCoT`, the transformer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted, validate_data

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp_sketch.columns import ColumnMoments
from spectralnlp_sketch.dcot.moments import ReconstructionMoments, RowLog, reconstruct
from spectralnlp_sketch.dcot.solve import (
    Corruption,
    Reconstruction,
    solve_by_documents,
    solve_by_iteration,
    solve_by_terms,
)
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.rows import Matrix
from spectralnlp_sketch.stream import MatrixCorpus
from spectralnlp_sketch.words import stop_list

Floats = NDArray[Any]
BATCH_ROWS = 2048
#: Up to so many terms or documents a Cholesky decomposition of them is faster than iterating.
CHOLESKY_ROWS = 16_000


class DCoT(TransformerMixin, ClassNamePrefixFeaturesOutMixin, BaseEstimator):
    """Dense Cohort of Terms: prototypes, terms that stand for many, restored from the rest of a document.

    Xu, Chen, Weinberger and Sha 2012. Each layer is the linear map that best restores the prototypes of rows
    from which every term was removed with probability 1 − p, in expectation over all such corruptions and in
    closed form, then tanh; the next layer does the same to the output of the last.

    Args:
        n_prototypes: r, how many terms are reconstructed; all where there are fewer.
        prototypes: which: ``heavy``, the columns with the largest sums of squares, best of tf-idf weights; or
            ``frequent``, as published, the terms of the most documents.
        keep_probability: p, the probability of a term to survive corruption.
        n_layers: how often the map is applied.
        output: of `transform`, the paper's equation 8: ``all``, the rows and all layers side by side;
            ``layers``, without the rows; ``last``, the last layer alone.
        normalise: whether each layer's rows are scaled to length one before they are put side by side.
        terms: names of the columns, for ``stop_words`` and `reconstruct`.
        stop_words: terms that are no prototypes: ``english``, a set, or None.
        ridge: steadies the solution; in units of the mean sum of squares of a column.
        solver: ``terms`` adds up a d × d matrix and keeps no rows; ``documents`` keeps the rows, sparse, and
            solves n × n by Woodbury's identity; ``iteration`` (conjugate gradients) has neither matrix. They
            agree; ``auto`` takes the cheapest.

    Attributes:
        prototypes_: columns of the prototypes (r,), the heaviest or most frequent first.
        layers_: a `Reconstruction` each.
        solver_: what ``auto`` chose.
        n_rows_: rows seen.
    """

    def __init__(
        self,
        n_prototypes: int = 1000,
        *,
        prototypes: str = "heavy",
        keep_probability: float = 0.3,
        n_layers: int = 3,
        output: str = "all",
        normalise: bool = True,
        terms: Sequence[str] | None = None,
        stop_words: str | Collection[str] | None = None,
        ridge: float = 1e-5,
        solver: str = "auto",
    ) -> None:
        self.n_prototypes = n_prototypes
        self.prototypes = prototypes
        self.keep_probability = keep_probability
        self.n_layers = n_layers
        self.output = output
        self.normalise = normalise
        self.terms = terms
        self.stop_words = stop_words
        self.ridge = ridge
        self.solver = solver

    def fit(self, X: Matrix | Corpus[Any], y: object = None) -> Self:
        """Learn the layers from a matrix, or a corpus of rows (`MatrixCorpus`, `FileRows`), a pass each.

        Args:
            X: counts or weights of terms (n, d), dense or sparse; or a corpus with ``n_columns``.
            y: ignored.

        Raises:
            SizeError: a setting makes no sense.
            MatrixError: a NaN or an infinity (which row), or no rows.
        """
        if isinstance(X, Corpus):
            self.n_features_in_ = int(X.n_columns)  # type: ignore[attr-defined]
            corpus: Corpus[Any] = X
        else:
            corpus = MatrixCorpus(self._validated(X, reset=True))
        self._check_settings()
        with one_blas_thread():
            columns = accumulate(ColumnMoments(self.n_features_in_), corpus, batch_size=BATCH_ROWS)
            self.n_rows_ = int(columns.n_rows)
            if not self.n_rows_:
                raise MatrixError("the stream holds no rows")
            self.prototypes_ = self._choose_prototypes(columns)
            self.solver_ = self.solver if self.solver != "auto" else self._cheapest()
            first = next(iter(corpus.batches(1))).examples.matrix  # type: ignore[attr-defined]
            dtype = first.dtype if first.dtype in (np.float32, np.float64) else np.dtype(np.float64)
            self.layers_ = [self._first_layer(corpus, dtype).astype(dtype)]
            while len(self.layers_) < self.n_layers:
                # A stream is read again and goes through all layers so far; in memory, through the last one.
                if isinstance(corpus, MatrixCorpus):
                    z = reconstruct(self.layers_[-1], corpus.matrix)
                    corpus = MatrixCorpus(z, corpus.n_partitions, corpus.document)
                    moments = ReconstructionMoments(z.shape[1])
                else:
                    moments = ReconstructionMoments.after(self.layers_)
                # All of the last layer's output is reconstructed (section 3.1).
                self.layers_.append(self._solve_by_terms(moments, corpus, slice(None)).astype(dtype))
        return self

    def _first_layer(self, corpus: Corpus[Any], dtype: np.dtype[Any]) -> Reconstruction:
        if self.solver_ == "terms":
            return self._solve_by_terms(ReconstructionMoments(self.n_features_in_), corpus, self.prototypes_)
        log = accumulate(RowLog(self.n_features_in_, dtype.name), corpus, batch_size=BATCH_ROWS)
        solve = solve_by_documents if self.solver_ == "documents" else solve_by_iteration
        return solve(log.rows(), self.prototypes_, self._corruption)

    def _solve_by_terms(
        self, moments: ReconstructionMoments, corpus: Corpus[Any], prototypes: Any
    ) -> Reconstruction:
        sums = accumulate(moments, corpus, batch_size=BATCH_ROWS)
        return solve_by_terms(sums.gram, sums.n_rows, prototypes, self._corruption)

    @property
    def _corruption(self) -> Corruption:
        return Corruption(self.keep_probability, self.ridge)

    def _cheapest(self) -> str:
        n, d = self.n_rows_, self.n_features_in_
        if min(n, d) > CHOLESKY_ROWS:
            return "iteration"
        return "terms" if d <= n else "documents"

    def _choose_prototypes(self, columns: ColumnMoments) -> NDArray[np.int64]:
        measure = columns.squares if self.prototypes == "heavy" else columns.nonzeros
        order = np.argsort(-measure, kind="stable")
        dropped = stop_list(self.stop_words)
        if dropped:
            names = self._names()
            order = np.array([column for column in order if names[column] not in dropped], np.int64)
        order = order[columns.nonzeros[order] > 0]
        if not len(order):
            raise MatrixError("no term can be a prototype: all are stop words, or all rows are empty")
        return order[: self.n_prototypes]

    def transform(self, X: Matrix) -> Matrix:
        """Rows (n, d) to what ``output`` says; sparse only where sparse rows are part of it."""
        check_is_fitted(self)
        X = self._validated(X, reset=False, finite=True)
        with one_blas_thread():
            parts = self._reconstructed(X)
        if self.output == "last":
            parts = parts[-1:]
        if self.normalise:
            parts = [normalize(part, copy=False) for part in parts]
        if self.output != "all":
            return np.hstack(parts)
        if not sp.issparse(X):
            return np.hstack([X, *parts])
        return sp.csr_matrix(sp.hstack([X, *(sp.csr_matrix(part) for part in parts)], format="csr"))

    def _reconstructed(self, X: Matrix) -> list[Floats]:
        parts: list[Floats] = []
        for layer in self.layers_:
            parts.append(reconstruct(layer, parts[-1] if parts else X))
        return parts

    def reconstruct(
        self, term: str | int | None, n: int = 10, *, layer: int = -1, value: float = 1.0
    ) -> list[tuple[str, float]]:
        """The prototypes that a document of one term makes present (the paper's figure 2).

        Args:
            term: its name, or its column; None: a document without terms, whose prototypes are those of the
                bias. They are subtracted from those of any other.
            n: how many, the largest first.
            layer: after which layer, by index.
            value: of the term in the document.

        Raises:
            SizeError: the term is not known, or names were asked for and ``terms`` is not given.
        """
        check_is_fitted(self)
        dtype = self.layers_[0].weights.dtype
        empty = self._reconstructed(np.zeros((1, self.n_features_in_), dtype))[layer][0]
        scores = empty
        if term is not None:
            document = np.zeros((1, self.n_features_in_), dtype)
            document[0, self._column(term)] = value
            scores = self._reconstructed(document)[layer][0] - empty
        names = self._names() if self.terms is not None else [f"x{i}" for i in range(self.n_features_in_)]
        best = np.argsort(-scores, kind="stable")[:n]
        return [(str(names[self.prototypes_[i]]), float(scores[i])) for i in best]

    def _column(self, term: str | int) -> int:
        if isinstance(term, str):
            names = list(self._names())
            if term not in names:
                raise SizeError(f"{term!r} is not among the terms")
            return names.index(term)
        if not 0 <= term < self.n_features_in_:
            raise SizeError(f"there is no column {term}: there are {self.n_features_in_}")
        return term

    def _names(self) -> Sequence[str]:
        if self.terms is None:
            hint = "terms=vectorizer.get_feature_names_out()"
            raise SizeError("terms must name the columns for stop words and words", hint=hint)
        if len(self.terms) != self.n_features_in_:
            raise SizeError(f"terms names {len(self.terms)} columns, and there are {self.n_features_in_}")
        return self.terms

    def _check_settings(self) -> None:
        for name in ("n_prototypes", "n_layers"):
            if getattr(self, name) < 1:
                raise SizeError(f"{name} must be 1 or more, not {getattr(self, name)}")
        if not 0 < self.keep_probability <= 1:
            raise SizeError(f"keep_probability must be above 0 and at most 1, not {self.keep_probability}")
        if not self.ridge > 0:
            raise SizeError(f"ridge must be above 0, not {self.ridge}")
        choices = {
            "prototypes": ("heavy", "frequent"),
            "output": ("all", "layers", "last"),
            "solver": ("auto", "terms", "documents", "iteration"),
        }
        for name, known in choices.items():
            value = getattr(self, name)
            if value not in known:
                raise SizeError(f"{name} must be one of {', '.join(known)}, not {value!r}")

    def _validated(self, X: Matrix, *, reset: bool, finite: bool = False) -> Matrix:
        kinds = [np.float64, np.float32]
        return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite)

    @property
    def _n_features_out(self) -> int:
        layers = len(self.prototypes_) * (1 if self.output == "last" else self.n_layers)
        return layers + (self.n_features_in_ if self.output == "all" else 0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
