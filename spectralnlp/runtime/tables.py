"""Read tables (CSV, TSV, JSON lines, Parquet), with columns found by name."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime.files import Location, OnBad, open_binary, open_text, reported

# Name of a column, or its number from 1 in a table without a header.
Column: TypeAlias = str | int

TEXT_NAMES = (
    "text",
    "sentence",
    "utterance",
    "query",
    "question",
    "message",
    "content",
    "document",
    "review",
    "comment",
    "tweet",
    "title",
)
LABEL_NAMES = (
    "label",
    "labels",
    "intent",
    "category",
    "class",
    "target",
    "gold_label",
    "label_text",
    "sentiment",
    "topic",
    "tag",
)

_KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".parquet": "parquet",
}
_SHOWN = 20  # column names that an error lists
_BATCH = 1024  # Parquet rows that are read at a time
_SAMPLED = 100  # JSON objects whose keys are taken as column names
_NAME = re.compile(r"[^\W\d][\w.-]*( [\w.-]+)?")  # one word or two
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')


@dataclass(frozen=True)
class Table:
    """A table in a file.

    Args:
        path: the file.
        kind: ``csv``, ``tsv``, ``json`` or ``parquet``.
        names: names of the columns; empty for a table without a header, whose columns have numbers.
        delimiter: delimiter between the cells of a line.
        encoding: encoding of the file, unless it is Parquet.
    """

    path: Location
    kind: str
    names: tuple[str, ...] = ()
    delimiter: str = "\t"
    encoding: str = "utf-8"

    __repr__ = one_line

    def column(self, wanted: Column | None, known: Sequence[str]) -> Column | None:
        """Find a column of the table by its name or number, or recognise it by typical names.

        Args:
            wanted: name or number of the column; None to recognise it by ``known``.
            known: typical names of the column, the preferred one first; case is ignored.

        Returns:
            The column's name or number; None if no column has a known name.

        Raises:
            InputError: there is no column ``wanted``, or several columns have the same matching name.
        """
        if isinstance(wanted, int):
            return wanted
        for name in known if wanted is None else [wanted]:
            found = [each for each in self.names if each == name] or [
                each for each in self.names if each.casefold() == name.casefold()
            ]
            if len(found) > 1:
                what = f"{len(found)} columns are called {found[0]!r}"
                raise InputError(what, path=self.path, hint="rename one of them")
            if found:
                return found[0]
        if wanted is None:
            return None
        raise InputError(f"no column {wanted!r}", path=self.path, hint=self.there())

    def there(self) -> str:
        """Return a hint for error messages, which lists the column names of the table."""
        names = [repr(name) for name in self.names]
        more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names[:_SHOWN])}{more}"

    def rows(self, columns: Sequence[Column]) -> Iterator[tuple[int, list[Any]] | InputError]:
        """Read the cells of some columns, with line numbers (row numbers for Parquet).

        Args:
            columns: the columns, from `column`.

        Yields:
            The line or row number, from 1, and a list with the cell of each column; or, for a row that cannot
            be read, its error: it has more or fewer cells than there are columns, a quote is not closed, or a
            line is not a JSON object. A cell is text, or any value in JSON and Parquet; it is None if a JSON
            object lacks the key. Empty lines are skipped.

        Raises:
            InputError: nothing more can be read, for example because the file is not in the encoding.
        """
        readers = {"json": self._objects, "parquet": self._parquet_rows}
        return readers.get(self.kind, self._lines)(columns)

    def _lines(self, columns: Sequence[Column]) -> Iterator[tuple[int, list[Any]] | InputError]:
        places = [each - 1 if isinstance(each, int) else self.names.index(each) for each in columns]
        with open_text(self.path, self.encoding) as lines:
            records = _records(lines, self)
            if self.names:
                next(records, None)
            for number, cells in records:
                bad = partial(InputError, path=self.path, line=number)
                if isinstance(cells, str):
                    yield bad(cells)
                elif self.names and len(cells) != len(self.names):
                    hint = "put cells that hold a delimiter between quotes" if self.kind == "csv" else None
                    what = f"{len(cells)} cells, and there are {len(self.names)} columns"
                    yield bad(what, hint=hint)
                elif max(places, default=0) >= len(cells):
                    what = f"{len(cells)} columns, so there is no column {max(places) + 1}"
                    yield bad(what)
                else:
                    yield number, [cells[place] for place in places]

    def _objects(self, columns: Sequence[Column]) -> Iterator[tuple[int, list[Any]] | InputError]:
        with open_text(self.path, self.encoding) as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    record = _read_object(line, self.path, number)
                    yield (
                        record
                        if isinstance(record, InputError)
                        else (number, [record.get(str(name)) for name in columns])
                    )

    def _parquet_rows(self, columns: Sequence[Column]) -> Iterator[tuple[int, list[Any]] | InputError]:
        names = [str(name) for name in columns]
        with open_parquet(self.path) as file:
            batches = file.iter_batches(batch_size=_BATCH, columns=names)
            rows = (
                zip(*(batch.column(name).to_pylist() for name in names), strict=True) for batch in batches
            )
            try:
                for number, cells in enumerate(chain.from_iterable(rows), 1):
                    yield number, list(cells)
            except UnicodeDecodeError as error:
                what = f"a cell of {' or '.join(names)} is not UTF-8 text: {error.reason}"
                raise InputError(what, path=self.path, hint="write the file again") from error


def find_table(
    path: Location,
    columns: Sequence[Column | None] = (),
    *,
    kind: str | None = None,
    encoding: str = "utf-8",
) -> Table | None:
    """Return a description of the table in a file, recognised by the file's suffix and first line.

    In CSV and TSV, the first line is a header, unless columns are requested by number. If no column is
    requested, files whose suffix is not that of a table are taken for plain lines, and so are TSV files whose
    first line does not look like a header. In a header, all cells look like names, and one of them is a
    typical name of a text column.

    Args:
        path: the file, plain or gzipped.
        columns: name or number of each column that the caller asks for; None is ignored.
        kind: kind of the table as in `Table`; None to recognise it.
        encoding: encoding of the file.

    Returns:
        The table; None if the file is plain lines.

    Raises:
        InputError: the file cannot be read or is empty; or a column is requested by number, but columns have
            names.
        ConfigError: pyarrow is needed and not installed; or one column is requested by name, another by
            number.
    """
    kind = kind or _KINDS.get(Path(str(path).removesuffix(".gz")).suffix.lower())
    requested = [each for each in columns if each is not None]
    by_number = [isinstance(each, int) for each in requested]
    if any(by_number) and not all(by_number):
        what = f"columns {requested[0]!r} and {requested[1]!r}: one is a name, the other a number"
        raise ConfigError(what, hint="a number is a column of lines without a line of names")
    if kind is None and not requested:
        return None
    if kind == "parquet":
        with open_parquet(path) as file:
            table = Table(path, kind, tuple(file.schema_arrow.names))
    else:
        table = _text_table(path, kind, any(by_number), encoding)
        is_header = _looks_like_names(table.names)
        if kind == "tsv" and not requested and not is_header:
            return None
    if not table.names and not any(by_number):
        raise InputError("the file is empty", path=path)
    if any(by_number) and table.names:
        raise InputError(f"its columns have names, so there is no column {requested[0]}", path=path)
    return table


def text_cells(path: Location, column: Column, on_bad: OnBad | None = None) -> Iterator[str]:
    """Yield the cells of one column of text, including empty ones.

    Args:
        path: the file.
        column: name of the column; or its number, from 1, in a table without a header.
        on_bad: called with the error of each row that cannot be read, which is skipped, and with an error
            that ends the reading, such as a wrong encoding. None to raise the first error.

    Raises:
        InputError: as for `find_table`, `Table.column` and `Table.rows`; or a cell is not text.
    """
    table = find_table(path, [column])
    assert table is not None
    key = table.column(column, ())
    assert key is not None
    yield from reported((_text_or_error(row, path) for row in table.rows([key])), on_bad)


def _text_or_error(row: tuple[int, list[Any]] | InputError, path: Location) -> str | InputError:
    if isinstance(row, InputError):
        return row
    number, (text,) = row
    return text if isinstance(text, str) else not_text(text, path, number)


def not_text(value: Any, path: Location, number: int) -> InputError:
    """Return the error for a cell that is not text.

    Args:
        value: content of the cell.
        path: the file.
        number: number of the line or row, from 1.
    """
    what = "no text" if value is None else f"the text is a value of type {type(value).__name__}"
    return InputError(what, path=path, line=number)


def import_parquet() -> tuple[Any, Any]:
    """Import the modules ``pyarrow`` and ``pyarrow.parquet``.

    Raises:
        ConfigError: pyarrow is not installed.
    """
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(".parquet needs pyarrow", hint='pip install "spectralnlp[tables]"') from error
    return pyarrow, pyarrow.parquet


@contextmanager
def open_parquet(path: Location) -> Iterator[Any]:
    """Open a Parquet file with pyarrow.

    Raises:
        ConfigError: pyarrow is not installed.
        InputError: the file is missing or damaged.
    """
    pyarrow, parquet = import_parquet()
    with open_binary(path) as file:
        try:
            yield parquet.ParquetFile(file)
        except (pyarrow.ArrowException, OSError) as error:
            raise InputError("not a Parquet file, or damaged", path=path) from error


# ---------------------------------------------------------------------------------------------------------


def _text_table(path: Location, kind: str | None, by_number: bool, encoding: str) -> Table:
    """Return a description of the table in a text file, with its column names and delimiter.

    Args:
        path: the file.
        kind: ``csv``, ``tsv`` or ``json``; None to recognise the kind by the first line.
        by_number: whether columns are requested by number, so that the first line is not a header.
        encoding: encoding of the file.
    """
    with open_text(path, encoding) as lines:
        filled = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
        number, first = next(filled, (1, ""))
        if not first:
            return Table(path, kind or "csv")
        if kind is None:
            is_tsv = "\t" in first or by_number
            kind = "json" if first.lstrip().startswith("{") else "tsv" if is_tsv else "csv"
        if kind == "json":
            objects = (_read_object(line, path, n) for n, line in chain([(number, first)], filled))
            return Table(path, kind, _keys(islice(objects, _SAMPLED)), encoding=encoding)
    delimiter = "\t" if kind == "tsv" else max(",;\t", key=first.count)
    table = Table(path, kind, delimiter=delimiter, encoding=encoding)
    if by_number:
        return table
    with open_text(path, encoding) as lines:
        number, names = next(_records(lines, table))
    if isinstance(names, str):
        raise InputError(names, path=path, line=number)
    return Table(path, kind, tuple(name.strip() for name in names), delimiter, encoding)


def _keys(objects: Iterator[dict[str, Any] | InputError]) -> tuple[str, ...]:
    """Return the column names of a JSON table: all keys of its first objects.

    Keys after the first malformed line are ignored.

    Args:
        objects: the objects; an InputError stands for a malformed line.

    Raises:
        InputError: the first line is malformed.
    """
    names: dict[str, None] = {}
    for each in objects:
        if isinstance(each, InputError):
            if not names:
                raise each
            break
        names |= dict.fromkeys(each)
    return tuple(names)


def _looks_like_names(cells: Sequence[str]) -> bool:
    is_text = any(cell.casefold() in TEXT_NAMES for cell in cells)
    return is_text and all(_NAME.fullmatch(cell) for cell in cells)


def _records(lines: Iterator[str], table: Table) -> Iterator[tuple[int, list[str] | str]]:
    """Yield the records of a CSV or TSV file.

    Args:
        lines: lines of the file.
        table: the table, which has the kind and the delimiter.

    Yields:
        The number of the record's first line; and its list of cells, or an error message (text) if the record
        is malformed.
    """
    if table.kind == "tsv":
        for number, line in enumerate(lines, 1):
            if line.strip():
                cells = line.split("\t")
                yield number, [_unquoted(cell) for cell in cells] if table.names else cells
        return
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=table.delimiter, strict=True)
    while True:
        number = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            limit = f"a cell of more than {csv.field_size_limit():,} characters, or a quote that does not end"
            yield number, limit if "limit" in str(error) or "end of data" in str(error) else str(error)
            continue
        if any(cells):
            yield number, cells


def _unquoted(cell: str) -> str:
    """Return a TSV cell without surrounding quotes, which some programs write as in CSV."""
    quoted = _QUOTED.fullmatch(cell)
    return cell if quoted is None else quoted[1].replace('""', '"')


def _read_object(line: str, path: Location, number: int) -> dict[str, Any] | InputError:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value
    hint = 'give one JSON object a line, such as {"text": "…"}'
    return InputError("not a JSON object", path=path, line=number, hint=hint)
