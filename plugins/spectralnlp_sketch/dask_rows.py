"""Stream the rows of Dask arrays and data frames; Dask's workers reduce the blocks that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp

from spectralnlp.linalg import one_blas_thread
from spectralnlp.runtime import FAN_IN, Batch, Corpus, Engine, Moments, Observer, Part, Partition
from spectralnlp_sketch.errors import MatrixError
from spectralnlp_sketch.rows import Rows
from spectralnlp_sketch.stream import BlockPartition, block_of, slices

T = TypeVar("T")
R = TypeVar("R")
M = TypeVar("M", bound=Moments[Any])


class DaskRows(Corpus[Any]):
    """Corpus of the rows of a ``dask.array`` or ``dask.dataframe``; each block is a partition.

    Args:
        data: two-dimensional array or data frame of real numbers.

    Attributes:
        row_type: width, dtype and sparsity, as `describe_rows` returns them.

    Raises:
        MatrixError: the data is not a matrix of real numbers.
    """

    def __init__(self, data: Any) -> None:
        if data.ndim != 2:
            raise MatrixError(f"the Dask array has {data.ndim} dimensions, and a matrix has 2")
        names = list(data.columns) if hasattr(data, "columns") else ["the Dask array"]
        kinds = list(data.dtypes) if hasattr(data, "columns") else [data.dtype]
        for name, kind in zip(names, kinds, strict=True):
            if getattr(kind, "kind", "O") not in "fiub":
                raise MatrixError(f"{name} holds values of type {kind}, not numbers", hint="leave it out")
        self.n_columns = int(data.shape[1])
        narrow = all(kind == np.float32 for kind in kinds)
        self.row_type = {
            "n_columns": self.n_columns,
            "dtype": "float32" if narrow else "float64",
            "sparse": sp.issparse(getattr(data, "_meta", None)),
        }
        self._lengths: Sequence[float] = [np.nan] * data.npartitions
        if not hasattr(data, "columns"):
            data = data.rechunk({1: -1})
            self._lengths = data.chunks[0]
        # Rows are numbered over all blocks while block lengths are known, otherwise within each block.
        self._starts = [0, *np.cumsum(self._lengths)[:-1]]
        self._blocks = np.ravel(data.to_delayed()).tolist()
        self.engine = BlockEngine(self._blocks)

    def partitions(self) -> Sequence[BlockPartition]:
        """Return a partition for each block of rows of the Dask data."""
        parts = []
        for number, (block, start) in enumerate(zip(self._blocks, self._starts, strict=True)):
            known = bool(np.isfinite(start))
            name = "" if known else f"block {number}"
            read = partial(_computed, block)
            parts.append(BlockPartition(name, number, int(start) if known else 0, read))
        return parts

    def map(self, function: Callable[[Batch[Any]], Any]) -> Any:
        """Return a Dask array that applies a function to each block when it is computed.

        Args:
            function: maps a batch of n rows to an array of n numbers or n rows.
        """
        import dask.array
        from dask.delayed import delayed

        arrays: Any = dask.array  # Dask has no types
        shared, apply = delayed(function, traverse=False), delayed(_applied)
        like = function(Batch(Rows(np.zeros((1, self.n_columns), self.row_type["dtype"])), "", 0, 0))
        results = []
        for part, block, length in zip(self.partitions(), self._blocks, self._lengths, strict=True):
            made = apply(shared, part.document, part.document_index, part.start, block)
            results.append(arrays.from_delayed(made, (length, *like.shape[1:]), like.dtype))
        return arrays.concatenate(results, allow_unknown_chunksizes=True)


class BlockEngine(Engine):
    """Execution engine that computes and merges moments (statistics) of blocks of rows by Dask.

    Args:
        blocks: the block of each partition, a Dask delayed value, by the partition's ``document_index``.
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        self.blocks = blocks

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply a function to tasks in this thread; only `reduce` uses Dask's scheduler."""
        return map(function, tasks)

    def reduce(self, observe: Observer[M], tasks: Sequence[tuple[int, Partition[Any]]]) -> Part[M] | None:
        """Compute and merge moments (statistics) of blocks of rows by Dask; None if there are no blocks."""
        from dask.delayed import delayed

        shared = delayed(observe, traverse=False)
        add, merge = delayed(_observed, pure=False), delayed(_merged, pure=False)
        parts = []
        for number, partition in tasks:
            place = partition.document, partition.document_index, partition.start
            parts.append(add(shared, number, place, self.blocks[partition.document_index]))
        while len(parts) > 1:
            parts = [merge(parts[at : at + FAN_IN]) for at in range(0, len(parts), FAN_IN)]
        return parts[0].compute() if parts else None


def _observed(observe: Observer[M], number: int, place: tuple[str, int, int], block: Any) -> Part[M]:
    rows = partial(slices, block_of(block, place[0] or f"block {number}"))
    with one_blas_thread():
        return observe((number, BlockPartition(*place, rows)))


def _applied(function: Callable[[Batch[Any]], R], name: str, number: int, start: int, block: Any) -> R:
    rows = Rows(block_of(block, name or f"block {number}"))
    with one_blas_thread():
        return function(Batch(rows, name, number, start))


def _merged(parts: list[Part[M]]) -> Part[M]:
    """Merge moments of blocks into new ones; the inputs are not changed, as workers may use them again."""
    total = Part(parts[0].moments.empty_like())
    with one_blas_thread():
        for part in parts:
            total.merge(part)
    return total


def _computed(block: Any, size: int) -> Iterator[Rows]:
    yield from slices(block_of(block.compute()), size)
