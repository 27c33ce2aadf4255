"""Read files of matrices, numbers or text as rows of matrices, block by block."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b, file_digest
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.errors import InputError
from spectralnlp.runtime import (
    Batch,
    Corpus,
    Location,
    find_table,
    is_address,
    name_of,
    open_binary,
    open_parquet,
    open_text,
    remarks_on_files,
)
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.matrix_files import go_to, load_npz, npy_header
from spectralnlp_sketch.rows import Matrix, Rows
from spectralnlp_sketch.stream import BlockPartition, arrow_block, ranges

KINDS = ("npy", "npz", "parquet", "csv", "numbers", "tsv", "text")


_QUOTED = re.compile(r'"([^",;]*)"')
_EMPTY_CELL = re.compile(r"^\s*[,;]|([,;\t]) *\1")


@dataclass(frozen=True)
class RowFormat:
    """Format in which files are read as rows.

    Args:
        kind: ``npy`` (a dense numpy matrix), ``npz`` (a sparse scipy matrix), ``parquet`` (columns of
            numbers), ``numbers`` (one row a line, separated by blanks, tabs, commas or semicolons), ``csv``
            (the same after a line of names), ``tsv`` (text in the last field), ``text`` (one text a line),
            or ``auto`` to decide by suffix, else by the first lines.
        n_columns: number of columns to which the n-grams of text are hashed.
        ngrams: numbers of words of the shortest and the longest n-grams.
        dtype: dtype of the rows; ``npy``, ``npz`` and ``parquet`` files keep their own.

    Examples:
        >>> from spectralnlp_sketch import RowFormat
        >>> RowFormat(kind="text", n_columns=1024).ngrams
        (1, 2)
    """

    kind: str = "auto"
    n_columns: int = 2**16
    ngrams: tuple[int, int] = (1, 2)
    dtype: str = "float32"

    __repr__ = one_line


class FileRows(Corpus[Any]):
    """Corpus of the rows of files, read block by block; each file is a document.

    Args:
        paths: paths or URLs of the files, as `spectralnlp.runtime.expand_inputs` returns them.
        row_format: format of the files.
        n_partitions: number of row ranges into which each ``npy`` file is split, for workers.
        by_content: whether to number documents by a hash of their content, instead of their order. The
            random signs of a linear sketch then do not depend on the order of files, so that a file can later
            be removed from the sketch. To compute the hash, each file is read once more.

    Attributes:
        numbers: number of each document (file); with ``by_content``, 63 bits of a hash of its content.

    Raises:
        InputError: a file is missing, empty, or not in that format.
        MatrixError: files have different widths, or equal contents with ``by_content``.

    Examples:
        >>> from spectralnlp_sketch import FileRows, FrequentDirections, RowFormat
        >>> rows = FileRows(["corpora/intents/unlabelled.txt"], RowFormat(n_columns=256))
        >>> FrequentDirections(sketch_size=8).fit(rows).sketch_.shape
        (8, 256)
    """

    def __init__(
        self,
        paths: Iterable[str | Path],
        row_format: RowFormat | None = None,
        n_partitions: int = 1,
        *,
        by_content: bool = False,
    ) -> None:
        self.paths: list[Location] = [str(path) if is_address(path) else Path(path) for path in paths]
        self.n_partitions = n_partitions
        asked = row_format or RowFormat()
        self.formats = [replace(asked, kind=recognise(path, asked.kind)) for path in self.paths]
        widths = [width_of(path, form) for path, form in zip(self.paths, self.formats, strict=True)]
        if not widths:
            raise InputError("no files to read")
        for path, width in zip(self.paths, widths, strict=True):
            if width != widths[0]:
                what = f"rows of {width} columns, and {self.paths[0]} has {widths[0]}"
                raise MatrixError(what, path=path, hint="give files of one width")
        self.n_columns = widths[0]
        self.by_content = by_content
        self.numbers = [content_number(path) for path in self.paths] if by_content else [*range(len(widths))]
        first = dict(zip(reversed(self.numbers), reversed(self.paths), strict=True))
        for path, number in zip(self.paths, self.numbers, strict=True):
            if first[number] is not path:
                what = f"has the same content as {first[number]}, so its rows would have the same numbers"
                raise MatrixError(what, path=path, hint="give it once")

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return messages that say how text files are read; adjacent files of one format share a message."""
        read_as = (_READ_AS.get(each.kind, "").format(f"{self.n_columns:,}") for each in self.formats)
        return remarks_on_files(zip(map(name_of, self.paths), read_as, strict=True))

    def batches_from(self, file: int, row: int, size: int) -> Iterator[Batch[Any]]:
        """Yield batches of rows from a given row of a file on, to resume an interrupted run.

        Args:
            file: index of the file.
            row: first row of the first batch, a multiple of ``size``.
            size: number of rows of a batch.
        """
        for index in range(file, len(self.paths)):
            yield from self._partition(index, row if index == file else 0).batches(size)

    def partitions(self) -> Sequence[BlockPartition]:
        """Return one partition for each file, or ``n_partitions`` for an ``npy`` file."""
        parts = []
        for index, (path, row_format) in enumerate(zip(self.paths, self.formats, strict=True)):
            whole: list[tuple[int, int | None]] = [(0, None)]
            split = ranges(npy_header(path)[0][0], self.n_partitions) if row_format.kind == "npy" else whole
            parts += [self._partition(index, start, end) for start, end in split]
        return parts

    def _partition(self, index: int, start: int = 0, end: int | None = None) -> BlockPartition:
        path = self.paths[index]
        read = partial(_rows, path, self.formats[index], start, end)
        return BlockPartition(name_of(path), self.numbers[index], start, read)


# ---------------------------------------------------------------------------------------------------------
# Files


def content_number(path: Location) -> int:
    """Return a number that identifies a file's content: 63 bits of a hash of its bytes.

    Compressed files are not decompressed.

    Raises:
        InputError: the file cannot be read.
    """
    with open_binary(path) as file:
        try:
            digest = file_digest(file, partial(blake2b, digest_size=8)).digest()
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error
    return int.from_bytes(digest, "little") >> 1


def recognise(path: Location, kind: str = "auto") -> str:
    """Return the kind of a file, such as ``npy``; ``auto`` is decided by its suffix or first lines.

    Args:
        path: path or URL of the file.
        kind: kind of the file as in `RowFormat`, returned unchanged unless it is ``auto``.

    Raises:
        SizeError: ``kind`` is unknown.
        InputError: the file cannot be read, or is empty.
    """
    if kind != "auto":
        if kind not in KINDS:
            raise SizeError(f"no format is called {kind!r}", hint=f"there are auto, {', '.join(KINDS)}")
        return kind
    for suffix in ("npy", "npz", "parquet"):
        if str(path).endswith(f".{suffix}"):
            return suffix
    line, second = _first_lines(path)
    fields, below = _numbers(line, path), _numbers(second, path)
    # Pandas writes the names 0, 1, 2, … for columns without names.
    if str(path).endswith(".csv") and (
        fields is None or (len(fields) > 1 and fields == [*range(len(fields))])
    ):
        return "csv"
    if fields is None and below is not None and len(below) > 1:
        with suppress(InputError):  # a line of text may have any quotes
            if len(below) == _n_names(path, "csv"):
                return "csv"
    if fields is not None and len(fields) > 1:
        return "numbers"
    return "tsv" if "\t" in line else "text"


def width_of(path: Location, row_format: RowFormat) -> int:
    """Return the number of columns of a file's rows; only the beginning of the file is read.

    Raises:
        InputError: the file is missing, empty, or not in that format.
    """
    if row_format.kind == "npy":
        return npy_header(path)[0][1]
    if row_format.kind == "npz":
        return int(load_npz(path).shape[1])
    if row_format.kind in ("parquet", "csv"):
        return _n_names(path, row_format.kind)
    line, _ = _first_lines(path)
    if row_format.kind != "numbers":
        return row_format.n_columns
    fields = _numbers(line, path)
    if fields is None:
        raise InputError("not numbers", path=path, line=1, hint="choose another `format`")
    return len(fields)


def _first_lines(path: Location) -> tuple[str, str]:
    """Return the first two non-blank lines; the second is empty if there is only one."""
    with open_text(path) as lines:
        first = [*islice(filter(str.strip, lines), 2), ""]
    if not first[0]:
        raise InputError("the file is empty", path=path)
    return first[0], first[1]


def _n_names(path: Location, kind: str) -> int:
    """Return the number of columns of a CSV or Parquet file, which have names."""
    table = find_table(path, kind=kind)
    assert table is not None
    return len(table.names)


def _numbers(line: str, path: Location, number: int | None = None) -> list[float] | None:
    """Return the numbers of a line, some of which may be quoted; None for another line.

    Raises:
        MatrixError: a cell of the row is empty, or commas may be decimal ones.
    """
    plain = _QUOTED.sub(r"\1", line) if '"' in line else line
    try:
        fields = [float(field) for field in plain.replace(",", " ").replace(";", " ").split()]
    except ValueError:
        return None
    if "," in plain and ";" in plain:
        what = "a row of numbers with commas and semicolons"
        hint = "separate columns by one of them, and write decimals with points"
        raise MatrixError(what, path=path, line=number, hint=hint)
    if _EMPTY_CELL.search(plain):
        what = "a row of numbers with an empty cell"
        raise MatrixError(what, path=path, line=number, hint="drop or repair it")
    return fields


# ---------------------------------------------------------------------------------------------------------
# Readers: a function for each kind of file, which yields the rows from ``start`` on in blocks


def _rows(path: Location, row_format: RowFormat, start: int, end: int | None, size: int) -> Iterator[Rows]:
    """Yield rows of a file in blocks; raise an error if the file changes while it is read.

    Args:
        path: path or URL of the file.
        row_format: format of the file.
        start: first row.
        end: end of the rows in an ``npy`` file; None for all.
        size: number of rows of a block.
    """
    before = _stamp(path)
    if row_format.kind == "npy":
        yield from map(Rows, _npy_blocks(path, start, end, size))
    else:
        yield from map(Rows, _READERS[row_format.kind](path, row_format, start, size))
    if _stamp(path) != before:
        hint = "read it again when no program writes to it"
        raise InputError("the file changed while it was read", path=path, hint=hint)


def _npy_blocks(path: Location, start: int, end: int | None, size: int) -> Iterator[Matrix]:
    (n_rows, width), dtype, offset = npy_header(path)
    end = n_rows if end is None else end
    # The file is not memory-mapped: mapped pages count as memory of the process, addresses cannot be mapped,
    # and a mapped file that is cut short kills the process.
    with open_binary(path) as file:
        go_to(file, path, offset + start * width * dtype.itemsize)
        for low in range(start, end, size):
            block = np.empty((min(size, end - low), width), dtype)
            if file.readinto(block.data) < block.nbytes:
                raise InputError("the file was cut short while it was read", path=path)
            yield block


def _npz_blocks(path: Location, row_format: RowFormat, start: int, size: int) -> Iterator[Matrix]:
    matrix = load_npz(path)
    return (matrix[low : low + size] for low in range(start, matrix.shape[0], size))


def _parquet_blocks(path: Location, row_format: RowFormat, start: int, size: int) -> Iterator[Matrix]:
    with open_parquet(path) as file:
        for batch in file.iter_batches(batch_size=size):
            block = arrow_block(batch.slice(start), path)
            start -= batch.num_rows - len(block)
            if len(block):
                yield block


def _number_blocks(path: Location, row_format: RowFormat, start: int, size: int) -> Iterator[Matrix]:
    width = width_of(path, row_format)
    with open_text(path) as lines:
        filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        numbered = islice(filled, start + (row_format.kind == "csv"), None)
        while chunk := list(islice(numbered, size)):
            block = np.empty((len(chunk), width), dtype=row_format.dtype)
            for i, (number, line) in enumerate(chunk):
                block[i] = _row(path, number, line, width)
            yield block


def _row(path: Location, number: int, line: str, width: int) -> list[float]:
    fields = _numbers(line, path, number)
    if fields is None:
        hint = "choose `format`, for instance text, or give columns of numbers only"
        raise InputError("not a row of numbers", path=path, line=number, hint=hint)
    if len(fields) != width:
        what = f"a row of {len(fields)} numbers where {width} are expected"
        raise InputError(what, path=path, line=number)
    if not all(map(math.isfinite, fields)):
        raise MatrixError("NaN or infinity", path=path, line=number, hint="drop or repair it")
    return fields


def _text_blocks(path: Location, row_format: RowFormat, start: int, size: int) -> Iterator[Matrix]:
    from sklearn.feature_extraction.text import HashingVectorizer

    # Without alternating signs, which would make counts cancel; with 2¹⁶ columns collisions are rare.
    hasher = HashingVectorizer(
        n_features=row_format.n_columns,
        ngram_range=row_format.ngrams,
        token_pattern=r"\w+",
        alternate_sign=False,
        norm=None,
        dtype=row_format.dtype,
    )
    with open_text(path) as every_line:
        lines = islice(every_line, start, None)
        while chunk := list(islice(lines, size)):
            if row_format.kind == "tsv":
                chunk = [line.rpartition("\t")[2] for line in chunk]
            yield hasher.transform(chunk)


def _stamp(path: Location) -> tuple[int, ...]:
    """Return size, modification time and inode of a local file, to notice changes; empty for a URL."""
    if not isinstance(path, Path):
        return ()
    try:
        status = path.stat()
    except OSError as error:
        raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error
    return (status.st_size, status.st_mtime_ns, status.st_ino) if path.is_file() else ()


_READ_AS = {
    "csv": "rows of numbers in {} columns, after a line of names",
    "numbers": "rows of numbers in {} columns",
    "tsv": "text after the last tab, whose n-grams are hashed to {} columns",
    "text": "text, whose n-grams are hashed to {} columns",
}

_READERS: dict[str, Callable[..., Iterator[Matrix]]] = {
    "npz": _npz_blocks,
    "parquet": _parquet_blocks,
    "csv": _number_blocks,
    "numbers": _number_blocks,
    "tsv": _text_blocks,
    "text": _text_blocks,
}
