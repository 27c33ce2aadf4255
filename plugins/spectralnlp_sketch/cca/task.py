"""The task of CCA: train, evaluate and load a model of two views of the same examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import Report
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import Corpus, Inputs, OnBad, accumulate, expand_inputs
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.task import Task
from spectralnlp_sketch.cca.estimator import CCA
from spectralnlp_sketch.cca.model import CCAModel
from spectralnlp_sketch.cca.pairs import PairCorpus
from spectralnlp_sketch.row_files import FileRows, RowFormat
from spectralnlp_sketch.rows import RowMoments, matrix_of

Floats = NDArray[np.float64]


class ViewsTask(Task):
    """Task of two views of the same examples, X and y: row i of each is about example i."""

    name = "views"
    training_data = "{training rows:,} rows of two views"
    default_card = """# Canonical correlation analysis

The directions come from the training rows: their licence applies."""

    def read(self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None) -> PairCorpus:
        """Read the rows of two views, block by block.

        Args:
            inputs: two inputs, X and y; each is a file, or a folder or glob of as many files as the other's.
            reader: format of the files, such as ``npy``; see `RowFormat`.
            on_bad: not used: a row that is left out of one view would shift the other.

        Raises:
            ConfigError: there are not two inputs, or bad rows are to be skipped.
            InputError: a file is missing or not in that format.
        """
        given = [inputs] if isinstance(inputs, str | Path) else list(inputs)
        if len(given) != 2:
            hint = "give X, then y, each a file, a folder or a quoted pattern"
            raise ConfigError(f"{len(given)} inputs, and two views are two", hint=hint)
        if on_bad is not None:
            raise ConfigError("rows of two views cannot be skipped: the others would not match any more")
        return PairCorpus(*(_rows(each, reader) for each in given))

    def in_memory(self, data: Any) -> Corpus[Any]:
        """Return a corpus of two matrices or streams ``(X, y)``, or of pairs of rows.

        Raises:
            ConfigError: the data is neither.
        """
        if isinstance(data, list | tuple) and len(data) == 2 and not any(map(_is_pair, data)):
            return CCA().as_corpus(*data)
        return super().in_memory(data)

    def write_sample(self, folder: Path) -> list[Path]:
        """Write two small files of numbers, and return their paths."""
        paths, rng = [folder / "x.npy", folder / "y.npy"], np.random.default_rng(0)
        signal = rng.standard_normal((60, 2))
        for path, width in zip(paths, (4, 3), strict=True):
            np.save(path, signal @ rng.standard_normal((2, width)) + rng.standard_normal((60, width)))
        return paths

    def wrap(self, fitted: Any) -> CCAModel:
        """Return the model of a fitted estimator."""
        model: CCAModel = fitted.model_
        return model

    def training_counts(self, fitted: Any) -> dict[str, int]:
        """Return the number of training rows, for reports."""
        return {"training rows": fitted.n_rows_}

    def transformed(
        self, model: CCAModel, inputs: Inputs, *, reader: str = "auto", view: Literal["x", "y"] = "x"
    ) -> Iterator[Floats]:
        """Yield the projections of the rows of files of one view, block by block.

        Args:
            model: the model.
            inputs: files, folders or globs of rows.
            reader: format of the files, such as ``npy``; see `RowFormat`.
            view: which of the two views the files are of.

        Raises:
            ConfigError: there is no such view.
            InputError: a file is missing, not in that format, or of another width.
        """
        if view not in ("x", "y"):
            raise ConfigError(f"no view is called {view!r}", hint="there are x and y")
        project, mean = (model.transform, model.x_mean) if view == "x" else (model.transform_y, model.y_mean)
        for batch in _rows(inputs, reader).batches(RowMoments.batch_size):
            yield project(matrix_of(batch, len(mean)))

    def evaluate(self, model: CCAModel, corpus: Corpus[Any]) -> CCAReport:
        """Measure how well a model predicts y, and how its projections correlate, on other rows.

        Args:
            model: the model.
            corpus: pairs of rows.

        Raises:
            InputError: there are fewer than two rows.
        """
        with one_blas_thread():
            moments = accumulate(CCA().init_moments(corpus), corpus)
        if moments.n_rows < 2:
            raise InputError("two rows or more are needed to evaluate on")
        x, y, joint = moments.views()
        a, b = model.x_weights, model.y_weights
        by_x, by_y = x.covariance_times(a), y.covariance_times(b)
        across = joint.T @ a - np.outer(y.mean, x.mean @ a)  # covariances of y and the projections of X
        spread = np.sqrt((a * by_x).sum(axis=0) * (b * by_y).sum(axis=0))
        correlations = (b * across).sum(axis=0) / np.maximum(spread, np.finfo(np.float64).tiny)
        bias = (x.pivot + x.mean - model.x_mean) @ a @ model.coefficients - (y.pivot + y.mean - model.y_mean)
        explained = ((a.T @ by_x) @ model.coefficients - 2 * across.T) * model.coefficients
        errors = y.variances + explained.sum(axis=0) + bias**2
        varied = y.variances > 0
        r2 = np.where(varied, 1 - errors / np.where(varied, y.variances, 1), 0.0)
        return CCAReport(float(r2.mean()), tuple(correlations.tolist()), moments.n_rows)

    def load(self, stored: StoredModel) -> CCAModel:
        """Return the model that a folder holds."""
        return CCAModel.from_stored(stored)


@dataclass(frozen=True, repr=False)
class CCAReport(Report):
    """How well a CCA predicts y from X, and how its projections correlate.

    Args:
        r2: share of the variance of y that is explained, averaged over its columns; see `CCAModel.score`.
        correlations: correlation of the projections of X and y, for each pair of directions.
        rows: number of rows.
    """

    r2: float
    correlations: tuple[float, ...]
    rows: int

    def to_flat_dict(self) -> dict[str, float | int]:
        """Return the figures by name; correlations are ``correlation_1``, ``correlation_2``, …."""
        numbered = {f"correlation_{n}": each for n, each in enumerate(self.correlations, 1)}
        return {"r2": self.r2, **numbered, "rows": self.rows}

    def to_table(self) -> str:
        """Return the figures as a text table, one per line."""
        figures = {name.replace("_", " "): f"{value:9.4f}" for name, value in self.to_flat_dict().items()}
        figures["rows"] = f"{self.rows:9d}"
        return "\n".join(f"{name:<24}{value}" for name, value in figures.items())


def _rows(inputs: Any, reader: str) -> FileRows:
    return FileRows(expand_inputs(inputs), RowFormat(reader, dtype="float64"))


def _is_pair(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 2
