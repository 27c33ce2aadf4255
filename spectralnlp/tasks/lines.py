"""Lines of text files, or one column of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spectralnlp.corpus import open_text
from spectralnlp.errors import InputError
from spectralnlp.tasks.task import OnBad


def read_lines(path: Path, column: int | None, on_bad: OnBad | None) -> Iterator[str]:
    """The lines of a file, plain or gzipped.

    Args:
        path: the file.
        column: of lines with tabs, the column (from 1) to take; None for whole lines.
        on_bad: called for each line without the column, and where the file cannot be read on; such lines are
            left out. None to stop there.

    Raises:
        InputError: with ``on_bad`` None, a missing file or column, or bytes that are not UTF-8.
    """
    try:
        with open_text(path) as lines:
            for number, line in enumerate(lines, 1):
                if column is None:
                    yield line
                    continue
                columns = line.split("\t")
                if 0 < column <= len(columns):
                    yield columns[column - 1]
                    continue
                error = InputError(f"no column {column}", path=path, line=number)
                if on_bad is None:
                    raise error
                on_bad(error)
    except InputError as error:
        if on_bad is None:
            raise
        on_bad(error)
