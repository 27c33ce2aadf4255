"""Write rows in the formats of ``--format table|tsv|csv|json``, for every command that prints a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, TypeAlias

import typer

from spectralnlp.errors import ConfigError

TABLE, TSV, CSV, JSON = FORMATS = ("table", "tsv", "csv", "json")
_DELIMITERS = {TSV: "\t", CSV: ","}

TableFormat: TypeAlias = Annotated[
    str, typer.Option("--format", metavar="NAME", help="table, tsv, csv or json.")
]


def check_format(name: str, *more: str) -> None:
    """Check the name of an output format; raise ConfigError if it is unknown.

    Args:
        name: value of ``--format``.
        more: names that are allowed in addition to `FORMATS`.
    """
    known = (*FORMATS, *more)
    if name not in known:
        raise ConfigError(f"no output format {name!r}", hint=f"choose from {', '.join(known)}")


class Rows:
    """Writer of rows in one of `FORMATS`: row by row, except ``table``, which is written by `finish`.

    ``tsv`` and ``csv`` begin with a line of column names; ``json`` is one object per line.

    Args:
        write: function that writes a line.
        format_: one of `FORMATS`.
        names: column names, which are written even if there are no rows; None takes those of the first row.
    """

    def __init__(
        self, write: Callable[[str], None], format_: str, names: Sequence[str] | None = None
    ) -> None:
        check_format(format_)
        self.write, self.format = write, format_
        self._names: list[str] = []
        self._held: list[list[str]] = []
        if names is not None:
            self._begin(names)

    def __call__(self, row: Mapping[str, Any], values: Mapping[str, Any] | None = None) -> None:
        """Write a row in the chosen format.

        Args:
            row: maps column names to cells.
            values: for ``json``, the object to write in place of the row; None writes the row.
        """
        if self.format == JSON:
            self.write(json.dumps(row if values is None else values, ensure_ascii=False))
            return
        if not self._names:
            self._begin(list(row))
        cells = [_cell(row.get(name)) for name in self._names]
        if self.format == TABLE:
            self._held.append(cells)
        else:
            self._write_cells(cells)

    def finish(self) -> None:
        """Write the table, if the format is ``table``; call after the last row."""
        from spectralnlp.cli.console import table

        if self.format == TABLE and self._names:
            self.write(table(self._names, self._held))

    def _begin(self, names: Sequence[str]) -> None:
        self._names = list(names)
        if self.format in _DELIMITERS:
            self._write_cells(names)

    def _write_cells(self, cells: Iterable[str]) -> None:
        self.write(delimited(cells, self.format))


def write_rows(
    write: Callable[[str], None],
    format_: str,
    rows: Iterable[Mapping[str, Any]],
    *,
    table: Callable[[], str] | None = None,
    values: Callable[[], Mapping[str, Any]] | None = None,
) -> None:
    """Write rows in one of `FORMATS`.

    Args:
        write: function that writes a line.
        format_: one of `FORMATS`.
        rows: mappings of column names to cells.
        table: function that returns the text for the format ``table``; None for a plain table of the rows.
        values: function that returns a single object for the format ``json``; None for one object per row.

    Raises:
        ConfigError: there is no such format.
    """
    show = Rows(write, format_)
    if format_ == TABLE and table is not None:
        write(table())
    elif format_ == JSON and values is not None:
        show({}, values())
    else:
        for row in rows:
            show(row)
        show.finish()


def delimited(cells: Iterable[Any], format_: str) -> str:
    """Return a line of ``tsv`` or ``csv`` without its line end; cells are quoted where necessary."""
    line = io.StringIO()
    csv.writer(line, delimiter=_DELIMITERS[format_], lineterminator="").writerow(cells)
    return line.getvalue()


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple | Mapping):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
