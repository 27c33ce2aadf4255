"""Tasks whose examples are lines of text files, or one column of them, cut into words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime import Corpus, FileCorpus, Inputs, OnBad, expand_inputs, open_text, take_field
from spectralnlp.tasks.task import Task


class LineTask(Task):
    """A task of lists of words, one a line."""

    documents = ("line", "file")

    @staticmethod
    @abstractmethod
    def words_of(line: str) -> list[str]:
        """Return the words of a line; where there are none, the line is passed over."""

    def from_record(self, record: Mapping[str, Any]) -> list[str]:
        """Make words of a record's ``tokens``, or of its ``text``."""
        words: str | Sequence[str] = take_field(record, "tokens", "words", "text")
        return self.words_of(words) if isinstance(words, str) else list(words)

    def read(
        self, inputs: Inputs, *, reader: str = "auto", on_bad: OnBad | None = None, column: int | None = None
    ) -> Corpus[list[str]]:
        """Read the words of each line; lines without any are passed over.

        Args:
            inputs: files, folders and globs.
            reader: ``auto``; there is one way to read.
            on_bad: called for each line without the column, and for each file that ends in bad bytes.
            column: of lines with tabs, the column (from 1) that holds the text.

        Raises:
            InputError: a missing or unreadable input; on reading, bytes that are not UTF-8 or no such column.
        """
        read = partial(_read_words, words_of=self.words_of, column=column, on_bad=on_bad)
        return FileCorpus(expand_inputs(inputs), read)


def _read_words(
    path: Path, words_of: Callable[[str], list[str]], column: int | None, on_bad: OnBad | None
) -> Iterator[list[str]]:
    for line in read_lines(path, column, on_bad):
        if words := words_of(line):
            yield words


def read_lines(path: Path, column: int | None = None, on_bad: OnBad | None = None) -> Iterator[str]:
    """Read the lines of a file, plain or gzipped.

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
