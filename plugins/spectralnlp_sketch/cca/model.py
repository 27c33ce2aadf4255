"""The trained CCA of two views, the result of ``spectralnlp.train("cca", …)``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from spectralnlp.linalg.cca import CanonicalPairs, View
from spectralnlp.storage import Arrays, StorableModel, StoredArrays, StoredValues, float_array, specs_of
from spectralnlp_sketch.adapters import corpus_of
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import Matrix, RowMoments, check_matrix, matrix_of

Floats = NDArray[np.float64]


def _doubles(*shape: str) -> Any:
    # In single precision, a mean that is many times its column's deviation would lose its digits.
    return float_array(*shape, stored=("float64",), most=None)


@dataclass(frozen=True, eq=False, repr=False)
class CCAModel(StorableModel):
    """A CCA of two views: their projections, and linear predictions from them.

    In shapes, n is the number of rows, k of pairs of directions, p of columns of X, and q of those of y.

    Attributes:
        correlations: canonical correlations, float64 (k,), descending.
        x_mean, y_mean: column means, float64 (p,) and (q,).
        x_weights, y_weights: canonical directions, float64 (p, k) and (q, k).
        x_loadings, y_loadings: regression of each view on its own projections, float64 (p, k) and (q, k).
        coefficients: regression of y on the projections of X, float64 (k, q).
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card, in Markdown.

    Examples:
        >>> import numpy as np
        >>> import spectralnlp
        >>> rng = np.random.default_rng(0)
        >>> X = rng.normal(size=(1000, 5))
        >>> Y = X[:, :4] + rng.normal(size=(1000, 4))
        >>> model = spectralnlp.train("cca", (X, Y), n_components=1)
        >>> model.transform(X).shape, model.predict(X).shape
        ((1000, 1), (1000, 4))
    """

    correlations: Annotated[Floats, _doubles("n_pairs")]
    x_mean: Annotated[Floats, _doubles("n_x")]
    y_mean: Annotated[Floats, _doubles("n_y")]
    x_weights: Annotated[Floats, _doubles("n_x", "n_pairs")]
    y_weights: Annotated[Floats, _doubles("n_y", "n_pairs")]
    x_loadings: Annotated[Floats, _doubles("n_x", "n_pairs")]
    y_loadings: Annotated[Floats, _doubles("n_y", "n_pairs")]
    coefficients: Annotated[Floats, _doubles("n_pairs", "n_y")]
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# Canonical correlation analysis\n"

    task = "views"
    noun = "a CCA of two views"

    @classmethod
    def of(cls, pairs: CanonicalPairs, x: View, y: View, joint: Any) -> CCAModel:
        """Compute the regressions that belong to canonical directions.

        Args:
            pairs: canonical directions.
            x: moments of the first view.
            y: moments of the second view.
            joint: XᵀY / n, float64 (p, q), of the views as their moments have them.
        """
        across = joint.T @ pairs.x_weights - np.outer(y.mean, x.mean @ pairs.x_weights)
        x_gram, x_loadings = _regression(x, pairs.x_weights)
        _, y_loadings = _regression(y, pairs.y_weights)
        return cls(
            correlations=pairs.correlations,
            x_mean=x.pivot + x.mean,
            y_mean=y.pivot + y.mean,
            x_weights=pairs.x_weights,
            y_weights=pairs.y_weights,
            x_loadings=x_loadings,
            y_loadings=y_loadings,
            coefficients=np.linalg.solve(x_gram, across.T),
        )

    def transform(self, X: Any, y: Any = None) -> Any:
        """Project rows onto the canonical directions.

        Args:
            X: (n, p), dense or sparse.
            y: (n, q) or None.

        Returns:
            Projection of X, float64 (n, k); if y is given, a tuple of the projections of X and y.
        """
        projected = _projected(X, self.x_mean, self.x_weights, "X")
        return projected if y is None else (projected, self.transform_y(y))

    def transform_y(self, y: Any) -> Floats:
        """Project rows of the second view alone, (n, q), dense or sparse; return float64 (n, k)."""
        return _projected(y, self.y_mean, self.y_weights, "y")

    def predict(self, X: Any) -> Floats:
        """Predict y by the linear regression of y on the projections of X that has the least squared error.

        Args:
            X: (n, p), dense or sparse.

        Returns:
            float64 (n, q); (n,) if y has one column.
        """
        found = self.transform(X) @ self.coefficients + self.y_mean
        return found[:, 0] if found.shape[1] == 1 else found

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Map projections back to rows, by the regression of each view on its own projections.

        Args:
            X: projections of X (n, k).
            y: projections of y (n, k), or None.

        Returns:
            Rows of X, float64 (n, p); if y is given, a tuple of the rows of X and y.
        """
        none = np.zeros(len(self.correlations))
        rows = _projected(X, none, self.x_loadings.T, "X") + self.x_mean
        return rows if y is None else (rows, _projected(y, none, self.y_loadings.T, "y") + self.y_mean)

    def score(self, X: Any, y: Any) -> float:
        """Return R², the share of the variance of y that `predict` explains, averaged over its columns.

        Args:
            X: (n, p), dense or sparse.
            y: (n, q), or (n,) if it has one column.
        """
        from sklearn.metrics import r2_score

        return float(r2_score(checked_view(y, "y"), self.predict(X)))

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of `transform`, an array of strings (k,)."""
        return np.array([f"cca{number}" for number in range(len(self.correlations))], dtype=object)

    @property
    def summary(self) -> str:
        """The size of the model in a few words, for its ``repr``."""
        columns = f"{len(self.x_mean):,} and {len(self.y_mean):,} columns"
        return f"{len(self.correlations)} pairs of directions of {columns}"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name, as the command ``info`` shows them."""
        shown = ", ".join(f"{each:.3f}" for each in self.correlations[:10])
        more = ", …" if len(self.correlations) > 10 else ""
        return {
            **self.about,
            "columns of X": len(self.x_mean),
            "columns of y": len(self.y_mean),
            "canonical correlations": shown + more,
        }

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return the JSON values and the arrays to store; ``compact`` has no effect."""
        return {"about": dict(self.about)}, {name: getattr(self, name) for name in specs_of(type(self))}

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> CCAModel:
        """Build the model from the JSON values, the arrays and the model card of a model folder."""
        return cls(**arrays.fields(cls), about=metadata.about(), card=card)


def _regression(view: View, weights: Floats) -> tuple[Floats, Floats]:
    """Return the covariance of a view's projections W, WᵀSW, and the regression of the view on them."""
    along = view.covariance_times(weights)
    gram: Floats = weights.T @ along
    loadings: Floats = np.linalg.solve(gram, along.T).T.astype(np.float64)
    return gram, loadings


def _projected(rows: Any, mean: Floats, weights: Floats, name: str) -> Floats:
    """Return (rows − mean) · weights; sparse rows are centred without becoming dense."""
    rows = checked_view(rows, name, finite=True)
    if rows.shape[1] != len(mean):
        raise MatrixError(f"{name} has {rows.shape[1]} columns where {len(mean)} are expected")
    if sp.issparse(rows):
        return np.asarray(rows @ weights) - mean @ weights
    return np.asarray((rows - mean) @ weights)


def checked_view(rows: Any, name: str, *, finite: bool = False) -> Matrix:
    """Return the rows of a view as a matrix, float32 or float64, dense or CSR; a vector is one column.

    Args:
        rows: (n, d) or (n,); or a stream of rows, which is read into memory.
        name: name of the view in error messages.
        finite: whether to refuse NaN and infinity.

    Raises:
        ValueError: scikit-learn's, for what is not such a matrix.
    """
    if (corpus := corpus_of(rows)) is not None:
        width = int(corpus.n_columns)  # type: ignore[attr-defined]
        blocks = [matrix_of(batch, width) for batch in corpus.batches(RowMoments.batch_size)]
        rows = sp.vstack(blocks, format="csr") if sp.issparse(blocks[0]) else np.concatenate(blocks)
    check_matrix(rows)
    kinds = [np.float64, np.float32]
    rows = check_array(
        rows, accept_sparse="csr", dtype=kinds, ensure_all_finite=finite, ensure_2d=False, input_name=name
    )
    return rows.reshape(-1, 1) if rows.ndim == 1 else rows
