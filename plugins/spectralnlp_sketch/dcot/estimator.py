"""The scikit-learn transformer for Dense Cohort of Terms (dCoT)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Le
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted
from typing_extensions import Doc

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, Moments
from spectralnlp_sketch.columns import ColumnMoments
from spectralnlp_sketch.dcot.moments import ReconstructionMoments, RowLog, TermMoments, reconstruct
from spectralnlp_sketch.dcot.solve import Corruption, Reconstruction
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.matrices import MatrixEstimator
from spectralnlp_sketch.rows import Matrix, describe_rows, no_rows
from spectralnlp_sketch.stream import MatrixCorpus
from spectralnlp_sketch.words import StopWords, stop_list

Floats = NDArray[Any]
# Up to this many terms or documents, a Cholesky decomposition is faster than conjugate gradients.
CHOLESKY_ROWS = 16_000
# Weight of the ridge penalty, in units of the mean sum of squares of a column. The paper has none, and its
# E[Q] cannot be inverted if a column is empty, or if p is 1 and there are fewer documents than terms.
RIDGE = 1e-5


@dataclass(kw_only=True, eq=False, repr=False)
class DCoT(ClassNamePrefixFeaturesOutMixin, MatrixEstimator):
    """Dense Cohort of Terms (dCoT): features that reconstruct prototype terms from a document's other terms.

    The method is that of Xu, Chen, Weinberger and Sha (2012). Each layer is an affine map followed by tanh.
    The first map best reconstructs the prototypes from rows in which every term is removed with probability
    1 − ``keep_probability``; it is computed in closed form, in expectation over all such corruptions. Each
    later layer reconstructs the output of the layer before in the same way. Maps have a ridge penalty, which
    the paper has not: 10⁻⁵ times the mean sum of squares of a column. Without it they need not exist.

    In shapes, n is the number of rows, d the number of terms (columns), and r the number of prototypes.

    Attributes:
        prototypes_: columns of the prototypes, the terms to reconstruct; int64 (r,), by descending sum of
            squares or document frequency.
        layers_: a `Reconstruction` for each layer.
        solver_: the cheapest of three solvers with equal results: ``terms`` accumulates a d × d matrix and
            keeps no rows; ``documents`` keeps the rows, sparse, and solves an n × n system by Woodbury's
            identity; ``iteration`` (conjugate gradients) builds neither matrix.
        n_rows_: number of rows seen.

    Examples:
        >>> from sklearn.feature_extraction.text import CountVectorizer
        >>> from sklearn.pipeline import make_pipeline
        >>> from spectralnlp_sketch import DCoT
        >>> texts = ["the boat left", "a boat on the sea", "the oven is hot", "bread and salt"] * 3
        >>> make_pipeline(CountVectorizer(), DCoT(n_prototypes=5)).fit_transform(texts).shape[0]
        12
    """

    n_prototypes: Annotated[
        int,
        Ge(1),
        Doc("Number of terms to reconstruct (r); all terms if there are fewer."),
    ] = 1000
    prototypes: Annotated[
        Literal["heavy", "frequent"],
        Doc(
            "Terms to reconstruct: ``heavy``, the columns with the largest sums of squares, best with tf-idf "
            "weights; or ``frequent``, as published, the terms that occur in the most documents."
        ),
    ] = "heavy"
    keep_probability: Annotated[
        float,
        Gt(0),
        Le(1),
        Doc("Probability that a term survives corruption (p)."),
    ] = 0.3
    n_layers: Annotated[int, Ge(1), Doc("Number of layers.")] = field(default=3, kw_only=False)
    output: Annotated[
        Literal["all", "layers", "last"],
        Doc(
            "Columns of `transform` (Xu et al. 2012, eq. 8): ``all``, the rows and all layers side by side; "
            "``layers``, all layers without the rows; ``last``, the last layer alone."
        ),
    ] = "all"
    normalise: Annotated[
        bool,
        Doc("Whether to scale each layer's rows to length one before they are joined."),
    ] = True
    terms: Annotated[
        Any,
        Doc("Sequence of column names, for ``stop_words`` and `reconstruct`."),
    ] = None
    stop_words: Annotated[
        StopWords,
        Doc("Terms that are never prototypes: ``english``, a set, or None."),
    ] = None

    def check_combination(self) -> None:
        """Check that the list of stop words exists.

        Raises:
            ConfigError: there is no stop-word list of that name.
        """
        stop_list(self.stop_words)

    def init_moments(self, corpus: Corpus[Any]) -> TermMoments:
        """Return empty moments of columns for the first pass, after which prototype terms are chosen.

        Raises:
            MatrixError: there are no rows.
        """
        self.dtype_ = np.dtype(describe_rows(corpus)["dtype"])
        self.layers_: list[Reconstruction] = []
        return TermMoments(self.n_features_in_)

    def solve(self, moments: Any) -> Moments[Any] | None:
        """Choose prototypes from the moments of the first pass; learn a layer from those of each later pass.

        Raises:
            MatrixError: there are no rows, or no term can be a prototype.
        """
        if isinstance(moments, ColumnMoments):
            return self._begin_layers(moments)
        # All of the last layer's output is reconstructed (section 3.1).
        prototypes = slice(None) if self.layers_ else self.prototypes_
        self.layers_.append(moments.layer(prototypes, self._corruption, self.solver_).astype(self.dtype_))
        return ReconstructionMoments.after(self.layers_) if len(self.layers_) < self.n_layers else None

    def _begin_layers(self, columns: ColumnMoments) -> Moments[Any]:
        self.n_rows_ = columns.n_rows
        if not self.n_rows_:
            raise no_rows()
        self.prototypes_ = self._choose_prototypes(columns)
        self.solver_ = self._cheapest_solver()
        if self.solver_ == "terms":
            return ReconstructionMoments(self.n_features_in_)
        return RowLog(self.n_features_in_, self.dtype_.name)

    def next_pass(self, corpus: Corpus[Any], moments: Moments[Any]) -> tuple[Corpus[Any], Moments[Any]]:
        """Return the corpus and the empty moments of the next pass over the data.

        Rows in memory are replaced by the output of the last layer; a stream is read again and passes through
        all layers so far.

        Args:
            corpus: the corpus of the previous pass.
            moments: the empty moments that `solve` returned.
        """
        if not isinstance(corpus, MatrixCorpus) or not self.layers_:
            return corpus, moments
        z = reconstruct(self.layers_[-1], corpus.matrix)
        return MatrixCorpus(z, corpus.n_partitions, corpus.document), ReconstructionMoments(z.shape[1])

    @property
    def _corruption(self) -> Corruption:
        return Corruption(self.keep_probability, RIDGE)

    def _cheapest_solver(self) -> str:
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
        """Return the prototypes that the layers reconstruct for rows, with the layers side by side.

        The setting ``output`` selects the layers. With ``output="all"`` the rows themselves come first, and
        the result is sparse if the rows are sparse.

        Args:
            X: (n, d), dense or sparse.

        Returns:
            (n, columns), with r columns for each selected layer; with ``output="all"``, they follow the d
            columns of X.
        """
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
        """Return the prototypes that dCoT scores highest for a document of a single term.

        Figure 2 of Xu et al. 2012 has such lists.

        Args:
            term: name or column index of the term; None for an empty document, which is scored by the biases
                alone. The scores of a term are differences from those of an empty document.
            n: number of prototypes to return.
            layer: index of the layer whose output is returned.
            value: weight of the term in the document.

        Returns:
            Names and scores of prototypes, the largest score first.

        Raises:
            SizeError: the term is unknown, or it is a name and ``terms`` is not set.
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
            raise SizeError("stop words and terms given by name need column names", hint=hint)
        if len(self.terms) != self.n_features_in_:
            raise SizeError(f"terms names {len(self.terms)} columns, and there are {self.n_features_in_}")
        return self.terms

    @property
    def _n_features_out(self) -> int:
        layers = len(self.prototypes_) * (1 if self.output == "last" else self.n_layers)
        return layers + (self.n_features_in_ if self.output == "all" else 0)
