"""Adapt files, Arrow and Dask data, and iterables of batches to streams of rows that estimators can read.

Optional libraries are imported only if such data are given.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from spectralnlp.runtime import Corpus, expand_inputs
from spectralnlp_sketch.dask_rows import DaskRows
from spectralnlp_sketch.row_files import FileRows, RowFormat
from spectralnlp_sketch.stream import BlockCorpus, comes_from


def corpus_of(data: Any) -> Corpus[Any] | None:
    """Wrap data that are read in batches as a corpus of rows; None for a matrix or data frame in memory.

    Args:
        data: a corpus; files, folders or patterns, one or a list of them (`FileRows`; numbers in text are
            read as float64); Arrow tables, record batches and readers; Dask arrays and data frames; any
            iterable of batches of rows.

    Raises:
        InputError: a file is missing or has an unknown format.
        MatrixError: the data holds no rows, or values that are not real numbers.
    """
    if isinstance(data, Corpus):
        return data
    if isinstance(data, str | PathLike) or _holds_paths(data):
        return FileRows(expand_inputs(data), RowFormat(dtype="float64"))
    if comes_from(data, "dask"):
        return DaskRows(data)
    if comes_from(data, "pyarrow"):
        if hasattr(data, "to_batches"):
            return BlockCorpus(data.to_batches())
        return BlockCorpus([data] if hasattr(data, "num_rows") else data)
    return BlockCorpus(data) if _holds_batches(data) else None


def _holds_paths(data: Any) -> bool:
    return isinstance(data, list | tuple) and bool(data) and isinstance(data[0], str | PathLike)


def _holds_batches(data: Any) -> bool:
    """Return whether the data is an iterable of matrices, rather than a matrix or a list of rows."""
    if isinstance(data, list | tuple):
        return bool(data) and len(getattr(data[0], "shape", ())) == 2
    return isinstance(data, Iterable) and not any(
        hasattr(data, name) for name in ("shape", "__array__", "__array_interface__", "__dataframe__")
    )
