"""Corpus of two views of the same examples: pairs of a row of X and a row of Y."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple, Self, overload

import numpy as np
import scipy.sparse as sp

from spectralnlp.runtime import Batch, Corpus, Partition
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import Matrix, check_finite, describe_rows, matrix_of
from spectralnlp_sketch.stream import BlockPartition


class RowPair(NamedTuple):
    """One example of CCA.

    Args:
        x: row of the first view, a vector (p,) or a sparse matrix (1, p).
        y: row of the second view, a vector (q,) or a sparse matrix (1, q).
    """

    x: Any
    y: Any


class Pairs(Sequence[RowPair]):
    """Sequence of pairs of rows, so that a batch of them stays two blocks of memory.

    Args:
        x: matrix (n, p), dense or CSR.
        y: matrix (n, q), dense or CSR.
        names: names of the views in error messages.
    """

    def __init__(self, x: Matrix, y: Matrix, names: tuple[str, str] = ("X", "y")) -> None:
        self.x, self.y, self.names = x, y, names

    @classmethod
    def of(cls, examples: Sequence[Any]) -> Pairs:
        """Return examples, `Pairs` or a list of pairs (x, y), as `Pairs`.

        Raises:
            MatrixError: rows of a view differ in width, or an example is not a pair.
        """
        if isinstance(examples, Pairs):
            return examples
        if not all(isinstance(each, tuple) and len(each) == 2 for each in examples):
            what = "an example is a pair (x, y) of rows"
            raise MatrixError(what, hint="give both views, fit(X, y)")
        x, y = (matrix_of(Batch(side, "", 0, 0), _width(side[0])) for side in zip(*examples, strict=True))
        return cls(x, y)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @overload
    def __getitem__(self, index: int) -> RowPair: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> RowPair | Self:
        """Return one pair of rows, or a slice of pairs as `Pairs`."""
        if isinstance(index, slice):
            return type(self)(self.x[index], self.y[index], self.names)
        return RowPair(self.x[index], self.y[index])

    def __iter__(self) -> Iterator[RowPair]:
        return (self[i] for i in range(len(self)))

    def check(self, widths: tuple[int, int], start: int) -> None:
        """Check the widths of both views, and that they hold no NaN or infinity.

        Args:
            widths: expected numbers of columns, p and q.
            start: number of the first row, for error messages.

        Raises:
            MatrixError: a width differs, or a value is not finite.
        """
        for name, view, width, source in zip("Xy", (self.x, self.y), widths, self.names, strict=True):
            if view.shape[1] != width:
                raise MatrixError(f"{name} has {view.shape[1]} columns where {width} are expected")
            check_finite(view, start, source)

    def joined(self) -> Matrix:
        """Return the rows side by side in float64, (n, p + q); the result is CSR if either view is sparse."""
        if sp.issparse(self.x) or sp.issparse(self.y):
            return sp.hstack([self.x, self.y], format="csr", dtype=np.float64)
        return np.hstack([self.x, self.y]).astype(np.float64, copy=False)


class PairCorpus(Corpus[RowPair]):
    """Corpus of pairs of rows of two corpora.

    Args:
        x: rows of the first view, with p columns.
        y: rows of the same examples in the second view, with q columns; it has as many partitions as ``x``.

    Raises:
        MatrixError: the views have different numbers of partitions.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import MatrixCorpus
        >>> from spectralnlp_sketch.cca.pairs import PairCorpus
        >>> pairs = PairCorpus(MatrixCorpus(np.ones((3, 2))), MatrixCorpus(np.ones((3, 4))))
        >>> [x.shape + y.shape for x, y in pairs]
        [(2, 4), (2, 4), (2, 4)]
    """

    def __init__(self, x: Corpus[Any], y: Corpus[Any]) -> None:
        self.views = x, y
        parts = [len(each.partitions()) for each in self.views]
        if parts[0] != parts[1]:
            what = f"the views come in {parts[0]} and {parts[1]} parts"
            raise MatrixError(what, hint="give as many files of X as of y, with the same rows")

    def described(self) -> list[dict[str, Any]]:
        """Return ``n_columns``, ``dtype`` and ``sparse`` of each view; see `describe_rows`."""
        return [describe_rows(each) for each in self.views]

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return the remarks on both views, such as how their files are read."""
        return [line for view in self.views for line in view.remarks(training=training)]

    def partitions(self) -> Sequence[BlockPartition]:
        """Return the joined partitions; reading one checks that both views have as many rows."""
        pairs = zip(*(each.partitions() for each in self.views), strict=True)
        return [
            BlockPartition(x.document, x.document_index, x.start, partial(_blocks, x, y)) for x, y in pairs
        ]


def _blocks(x: Partition[Any], y: Partition[Any], size: int) -> Iterator[Pairs]:
    """Yield pairs of rows; the blocks of the two views may differ in length, as those of Parquet do."""
    sides, names = [_matrices(x, size), _matrices(y, size)], (x.document or "X", y.document or "y")
    waiting: list[Matrix | None] = [None, None]
    read = 0
    while True:
        waiting = [
            next(side, None) if rest is None else rest for rest, side in zip(waiting, sides, strict=True)
        ]
        left, right = waiting
        if left is None and right is None:
            return
        if left is None or right is None:
            what = (
                f"{'X' if left is None else 'y'} ends after {x.start + read} rows, and the other view goes on"
            )
            raise MatrixError(what, path=x.document or None, hint="give both views of the same examples")
        n = min(left.shape[0], right.shape[0])
        yield Pairs(left[:n], right[:n], names)
        read += n
        waiting = [None if each.shape[0] == n else each[n:] for each in (left, right)]


def _matrices(view: Partition[Any], size: int) -> Iterator[Matrix]:
    for batch in view.batches(size):
        if len(batch):
            yield matrix_of(batch, _width(batch.examples[0]))


def _width(row: Any) -> int:
    return int(np.shape(row)[-1]) if np.ndim(row) else 1
