"""Corpus of joined rows of two views of the same examples: the columns of X, then those of Y."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import scipy.sparse as sp

from spectralnlp.runtime import Batch, Corpus, Partition
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import Matrix, Rows, check_finite, matrix_of
from spectralnlp_sketch.stream import BlockPartition


class PairCorpus(Corpus[Any]):
    """Corpus of two views whose rows are joined side by side.

    Args:
        x: rows of the first view, with p columns.
        y: rows of the same examples in the second view, with q columns; it has as many partitions as ``x``.

    Attributes:
        widths: p and q.

    Raises:
        MatrixError: the views have different numbers of partitions.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import MatrixCorpus
        >>> from spectralnlp_sketch.cca.pairs import PairCorpus
        >>> PairCorpus(MatrixCorpus(np.ones((3, 2))), MatrixCorpus(np.ones((3, 4)))).widths
        (2, 4)
    """

    def __init__(self, x: Corpus[Any], y: Corpus[Any]) -> None:
        self.views = x, y
        self.widths: tuple[int, int] = int(x.n_columns), int(y.n_columns)  # type: ignore[attr-defined]
        parts = [len(each.partitions()) for each in self.views]
        if parts[0] != parts[1]:
            what = f"the views come in {parts[0]} and {parts[1]} parts"
            raise MatrixError(what, hint="give as many files of X as of y, with the same rows")

    def partitions(self) -> Sequence[BlockPartition]:
        """Return the joined partitions; reading one checks for equal row counts, NaN and infinity."""
        pairs = zip(*(each.partitions() for each in self.views), strict=True)
        return [
            BlockPartition(x.document, x.document_index, x.start, partial(_blocks, x, y, self.widths))
            for x, y in pairs
        ]


def _blocks(x: Partition[Any], y: Partition[Any], widths: tuple[int, int], size: int) -> Iterator[Rows]:
    for left, right in zip_longest(x.batches(size), y.batches(size)):
        n, m = (0 if each is None else len(each) for each in (left, right))
        if n != m:
            ended, start = ("X" if n < m else "y"), (right if left is None else left).start
            what = f"{ended} ends after {start + min(n, m)} rows, and the other view goes on"
            raise MatrixError(what, path=x.document or None, hint="give both views of the same examples")
        yield Rows(side_by_side(_checked(left, widths[0], "X"), _checked(right, widths[1], "y")))


def _checked(batch: Batch[Any], width: int, name: str) -> Matrix:
    matrix = matrix_of(batch, width)
    check_finite(matrix, batch.start, batch.document or name)
    return matrix


def side_by_side(x: Matrix, y: Matrix) -> Matrix:
    """Join two blocks of rows side by side in float64; the result is CSR if either block is sparse."""
    if sp.issparse(x) or sp.issparse(y):
        return sp.hstack([x, y], format="csr", dtype=np.float64)
    return np.hstack([x, y]).astype(np.float64, copy=False)
