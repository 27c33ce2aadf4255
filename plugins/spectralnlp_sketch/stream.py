"""Matrices as corpora: in memory, or in files that are read a block of rows at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b, file_digest
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from spectralnlp.errors import InputError
from spectralnlp.runtime import Batch, Corpus, Location, Partition, is_address, open_binary, open_text
from spectralnlp_sketch.errors import MatrixError, SizeError
from spectralnlp_sketch.matrix_files import go_to, load_npz, npy_header
from spectralnlp_sketch.rows import Matrix, Rows, check_structure

KINDS = ("npy", "npz", "numbers", "tsv", "text")
Blocks = Callable[[int], Iterator[Matrix]]


@dataclass(frozen=True)
class MatrixPartition(Partition[Any]):
    """Consecutive rows whose batches are blocks of a matrix, not lists of rows.

    Args:
        blocks: gives the rows, so many at a time, afresh at every call.
    """

    blocks: Blocks

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """The partition's rows, ``size`` at a time, as `Rows`."""
        start = self.start
        for block in self.blocks(size):
            yield Batch(Rows(block), self.document, self.document_index, start)
            start += block.shape[0]


class MatrixCorpus(Corpus[Any]):
    """The rows of a matrix in memory.

    Args:
        matrix: (n, d), dense or sparse.
        n_partitions: into how many ranges of rows it is split for workers.
        document: what errors call it.
        first_row: number of its first row, where it is a part of a larger matrix.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp_sketch import FrequentDirections, MatrixCorpus
        >>> X = np.random.default_rng(0).normal(size=(100, 8))
        >>> FrequentDirections(sketch_size=4).fit(MatrixCorpus(X, n_partitions=3)).sketch_.shape
        (4, 8)
    """

    def __init__(self, matrix: Matrix, n_partitions: int = 1, document: str = "", first_row: int = 0) -> None:
        if n_partitions < 1:
            raise SizeError(f"n_partitions must be 1 or more, not {n_partitions}")
        check_structure(matrix)
        self.matrix = sp.csr_matrix(matrix) if sp.issparse(matrix) else matrix
        self.n_partitions, self.document, self.first_row = n_partitions, document, first_row

    @property
    def n_columns(self) -> int:
        """The width."""
        return int(self.matrix.shape[1])

    def partitions(self) -> Sequence[MatrixPartition]:
        """Ranges of rows of nearly equal length; empty ones are left out."""
        return [
            matrix_partition(
                self.document, 0, self.first_row + start, partial(_slices, self.matrix[start:end])
            )
            for start, end in _ranges(self.matrix.shape[0], self.n_partitions)
        ]


# Makes a batch of examples, and the number of the first, one block of memory.
Convert = Callable[[Sequence[Any], int], Sequence[Any]]


@dataclass(frozen=True)
class ConvertedPartition(Partition[Any]):
    """Consecutive examples whose batches are blocks that other examples are turned into.

    Args:
        source: gives the other examples, a batch at a time.
        convert: turns them into a block.
    """

    source: Partition[Any]
    convert: Convert

    def batches(self, size: int) -> Iterator[Batch[Any]]:
        """The partition's examples, ``size`` at a time."""
        for batch in self.source.batches(size):
            block = self.convert(batch.examples, batch.start)
            yield Batch(block, batch.document, batch.document_index, batch.start)


class ConvertedCorpus(Corpus[Any]):
    """A corpus of texts, tokens or arrays whose batches are turned into blocks whenever it is read.

    Args:
        source: the corpus.
        convert: turns a batch into a block; a function that workers can be sent.
    """

    def __init__(self, source: Corpus[Any], convert: Convert) -> None:
        self.source, self.convert = source, convert

    def partitions(self) -> Sequence[ConvertedPartition]:
        """The partitions of the corpus, turned into blocks."""
        return [
            ConvertedPartition(each.document, each.document_index, each.start, each.read, each, self.convert)
            for each in self.source.partitions()
        ]


@dataclass(frozen=True)
class RowFormat:
    """How files are read as rows.

    Args:
        kind: ``npy`` (a dense matrix of numpy), ``npz`` (a sparse matrix of scipy), ``numbers`` (a row a
            line, between blanks, tabs or commas), ``tsv`` (text in the last field), ``text`` (a text a line),
            or ``auto``: by suffix, else by the first line.
        n_columns: columns that the n-grams of text are hashed to.
        ngrams: shortest and longest n-gram of words.
        dtype: of the rows; matrices of numpy and scipy keep their own.

    Examples:
        >>> from spectralnlp_sketch import RowFormat
        >>> RowFormat(kind="text", n_columns=1024).ngrams
        (1, 2)
    """

    kind: str = "auto"
    n_columns: int = 2**16
    ngrams: tuple[int, int] = (1, 2)
    dtype: str = "float32"


class FileRows(Corpus[Any]):
    """The rows of files, one document a file, in memory that does not grow with them.

    Args:
        paths: the files, or their addresses; see `spectralnlp.runtime.expand_inputs`.
        row_format: how to read them.
        n_partitions: into how many ranges of rows each ``npy`` file is split, for workers that read apart.
        by_content: number documents by what is in them, not by their order: the random signs of a linear
            sketch are then those of a file wherever it stands, and it can be taken out again. Each file is
            read once more.

    Attributes:
        numbers: of the documents, a file each; of a content 63 bits of its hash.

    Raises:
        InputError: a file is missing, empty, or not in that format.
        MatrixError: files have different widths, or by content are the same; says which.

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
        widths = [width_of(path, each) for path, each in zip(self.paths, self.formats, strict=True)]
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
                what = f"holds the same as {first[number]}, and rows would not be told apart"
                raise MatrixError(what, path=path, hint="give it once")

    @property
    def sparse(self) -> bool:
        """Whether the rows come in CSR."""
        return any(each.kind in ("npz", "tsv", "text") for each in self.formats)

    def batches_from(self, file: int, row: int, size: int) -> Iterator[Batch[Any]]:
        """The batches from one on that begins at a row of a file, as `batches` gives them.

        Args:
            file: index of the file.
            row: where the batch begins; a multiple of ``size``.
            size: rows of a batch.
        """
        for index in range(file, len(self.paths)):
            start = row if index == file else 0
            row_format, path = self.formats[index], self.paths[index]
            blocks = partial(_READERS[row_format.kind], path, row_format, start=start)
            yield from matrix_partition(name_of(path), self.numbers[index], start, blocks).batches(size)

    def partitions(self) -> Sequence[MatrixPartition]:
        """One a file, or several of an ``npy`` file."""
        parts = []
        for number, path, row_format in zip(self.numbers, self.paths, self.formats, strict=True):
            if row_format.kind != "npy":
                blocks = partial(_READERS[row_format.kind], path, row_format)
                parts.append(matrix_partition(name_of(path), number, 0, blocks))
                continue
            for start, end in _ranges(npy_header(path)[0][0], self.n_partitions):
                blocks = partial(_npy_blocks, path, row_format, start=start, end=end)
                parts.append(matrix_partition(name_of(path), number, start, blocks))
        return parts


def matrix_partition(document: str, index: int, start: int, blocks: Blocks) -> MatrixPartition:
    """A partition whose rows are those of blocks."""
    return MatrixPartition(document, index, start, partial(_rows, blocks), blocks)


def _rows(blocks: Blocks) -> Iterator[Any]:
    for block in blocks(1024):
        yield from Rows(block)


def _slices(matrix: Matrix, size: int) -> Iterator[Matrix]:
    for start in range(0, matrix.shape[0], size):
        yield matrix[start : start + size]


def _ranges(n: int, parts: int) -> list[tuple[int, int]]:
    bounds = [(n * i // parts, n * (i + 1) // parts) for i in range(parts)]
    return [(start, end) for start, end in bounds if start < end]


# ---------------------------------------------------------------------------------------------------------
# Files


def content_number(path: Location) -> int:
    """63 bits of a hash of a file's bytes, as they lie there.

    Raises:
        InputError: it cannot be read.
    """
    with open_binary(path) as file:
        try:
            digest = file_digest(file, partial(blake2b, digest_size=8)).digest()
        except OSError as error:
            raise InputError(f"cannot read the file: {error.strerror or error}", path=path) from error
    return int.from_bytes(digest, "little") >> 1


def recognise(path: Location, kind: str = "auto") -> str:
    """The kind of a file: as asked, else by its suffix, else by its first line that is not empty.

    Raises:
        SizeError: there is no such kind.
        InputError: the file cannot be read, or has no such line.
    """
    if kind != "auto":
        if kind not in KINDS:
            raise SizeError(f"no format is called {kind!r}", hint=f"there are auto, {', '.join(KINDS)}")
        return kind
    if str(path).endswith((".npy", ".npz")):
        return str(path)[-3:]
    line = _first_line(path)
    fields = _numbers(line)
    if fields is not None and len(fields) > 1:
        return "numbers"
    return "tsv" if "\t" in line else "text"


def name_of(path: Location) -> str:
    """Name of a file as a document."""
    return path if isinstance(path, str) else path.as_posix()


def width_of(path: Location, row_format: RowFormat) -> int:
    """The number of columns of a file's rows; reads its beginning.

    Raises:
        InputError: it is missing, empty, or not in that format.
    """
    if row_format.kind == "npy":
        return npy_header(path)[0][1]
    if row_format.kind == "npz":
        return int(load_npz(path).shape[1])
    line = _first_line(path)
    if row_format.kind != "numbers":
        return row_format.n_columns
    fields = _numbers(line)
    if fields is None:
        raise InputError("not numbers", path=path, line=1, hint="choose another `format`")
    return len(fields)


def _first_line(path: Location) -> str:
    with open_text(path) as lines:
        for line in lines:
            if line.strip():
                return line
    raise InputError("the file is empty", path=path)


def _numbers(line: str) -> list[float] | None:
    try:
        return [float(field) for field in line.replace(",", " ").split()]
    except ValueError:
        return None


def _number_blocks(path: Location, row_format: RowFormat, size: int, start: int = 0) -> Iterator[Matrix]:
    width = width_of(path, row_format)
    with open_text(path) as lines:
        filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        numbered = islice(filled, start, None)
        while chunk := list(islice(numbered, size)):
            block = np.empty((len(chunk), width), dtype=row_format.dtype)
            for i, (number, line) in enumerate(chunk):
                fields = _numbers(line)
                if fields is None:
                    raise InputError("not a row of numbers", path=path, line=number)
                if len(fields) != width:
                    what = f"a row of {len(fields)} numbers where {width} are expected"
                    raise InputError(what, path=path, line=number)
                if not all(map(math.isfinite, fields)):
                    raise MatrixError("NaN or infinity", path=path, line=number, hint="drop or repair it")
                block[i] = fields
            yield block


def _text_blocks(path: Location, row_format: RowFormat, size: int, start: int = 0) -> Iterator[Matrix]:
    from sklearn.feature_extraction.text import HashingVectorizer

    # Signs would make counts cancel; with 2¹⁶ columns collisions are rare enough without.
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
            yield sp.csr_matrix(hasher.transform(chunk))


def _npy_blocks(
    path: Location, row_format: RowFormat, size: int, start: int = 0, end: int | None = None
) -> Iterator[Matrix]:
    (n_rows, width), dtype, offset = npy_header(path)
    end = n_rows if end is None else end
    # Read, not mapped: the pages of a mapped file count as this process's memory.
    with open_binary(path) as file:
        go_to(file, path, offset + start * width * dtype.itemsize)
        for low in range(start, end, size):
            block = np.empty((min(size, end - low), width), dtype)
            if file.readinto(block.data) < block.nbytes:
                raise InputError("the file was cut short while it was read", path=path)
            yield block


def _npz_blocks(path: Location, row_format: RowFormat, size: int, start: int = 0) -> Iterator[Matrix]:
    yield from _slices(load_npz(path)[start:], size)


_READERS: dict[str, Callable[..., Iterator[Matrix]]] = {
    "npy": _npy_blocks,
    "npz": _npz_blocks,
    "numbers": _number_blocks,
    "tsv": _text_blocks,
    "text": _text_blocks,
}
