"""Options of the commands ``sketch`` and ``leverage`` that say how files are read as rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp_sketch.row_files import FileRows

RowFiles: TypeAlias = Annotated[
    list[str], typer.Argument(metavar="FILE...", help="Files, folders or patterns of rows.")
]
Format: TypeAlias = Annotated[
    str,
    typer.Option(
        "--format",
        metavar="NAME",
        help="npy, npz, parquet, csv, numbers, tsv (text in the last field), text.",
    ),
]
Columns: TypeAlias = Annotated[
    int, typer.Option(min=1, metavar="N", help="Number of columns that n-grams of text are hashed to.")
]
Lengths: TypeAlias = Annotated[str, typer.Option(metavar="N-N", help="Shortest and longest n-gram of words.")]


def rows_of(
    files: Sequence[str], form: str, columns: int, ngrams: str, *, by_content: bool = False
) -> FileRows:
    """Return the rows of files; each other argument is the value of an option.

    Args:
        files: files, folders and patterns.
        form: name of the format.
        columns: number of columns that n-grams of text are hashed to.
        ngrams: range of n-gram lengths such as ``1-3``, or ``2`` for ``2-2``.
        by_content: whether to number files by their content; see `FileRows`.

    Raises:
        ConfigError: ``ngrams`` is not such a range.
        InputError: as for `FileRows`.
    """
    from spectralnlp.runtime import expand_inputs, rereadable
    from spectralnlp_sketch.row_files import FileRows, RowFormat

    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", ngrams)
    low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
    if not 1 <= low <= high:
        raise ConfigError(f"--ngrams {ngrams}: not a range such as 1-2")
    row_format = RowFormat(form, columns, (low, high))
    return FileRows(expand_inputs(rereadable(files)), row_format, by_content=by_content)
