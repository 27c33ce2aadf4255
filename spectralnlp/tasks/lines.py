"""Tasks whose examples are lines of text files, or one column of them, cut into words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from spectralnlp.errors import InputError
from spectralnlp.runtime import (
    Column,
    Corpus,
    FileCorpus,
    Inputs,
    OnBad,
    expand_inputs,
    open_text,
    take_field,
    text_cells,
)
from spectralnlp.tasks.task import Task


class LineTask(Task):
    """A task of lists of words, one a line."""

    documents = ("line", "file")

    @staticmethod
    @abstractmethod
    def words_of(line: str) -> list[str]:
        """Return the words of a line; where there are none, the line is passed over."""

    def is_example(self, example: Any) -> bool:
        """Whether something is a sequence of words."""
        return are_words(example)

    def words_in(self, example: list[str]) -> list[str]:
        """Return the words, which are all there is."""
        return example

    def with_words(self, example: list[str], words: Sequence[str]) -> list[str]:
        """Return the other words."""
        return list(words)

    def from_record(self, record: Mapping[str, Any]) -> list[str]:
        """Make words of a record's ``tokens``, or of its ``text``."""
        words: str | Sequence[str] = take_field(record, "tokens", "words", "text")
        return self.words_of(words) if isinstance(words, str) else list(words)

    def read(
        self,
        inputs: Inputs,
        *,
        reader: str = "auto",
        on_bad: OnBad | None = None,
        text_column: Column | None = None,
    ) -> Corpus[list[str]]:
        """Read the words of each line; lines without any are passed over.

        Args:
            inputs: files, folders and globs.
            reader: ``auto``; there is one way to read.
            on_bad: called for each line without the column, and for each file that ends in bad bytes.
            text_column: name of a table's column with the text; or its number (from 1) in lines with tabs.

        Raises:
            InputError: a missing or unreadable input; on reading, bytes that are not UTF-8 or no such column.
        """
        read = partial(_read_words, words_of=self.words_of, column=text_column, on_bad=on_bad)
        return FileCorpus(expand_inputs(inputs), read)


def are_words(value: Any) -> bool:
    """Whether something is a sequence of words, and not one text."""
    return (
        isinstance(value, Sequence) and not isinstance(value, str) and all(isinstance(w, str) for w in value)
    )


def _read_words(
    path: Path, words_of: Callable[[str], list[str]], column: Column | None, on_bad: OnBad | None
) -> Iterator[list[str]]:
    for line in read_lines(path, column, on_bad):
        if words := words_of(line):
            yield words


def read_lines(path: Path, column: Column | None = None, on_bad: OnBad | None = None) -> Iterator[str]:
    """Read the lines of a file, plain or gzipped.

    Args:
        path: the file.
        column: the one to take, see `text_cells`; None for whole lines.
        on_bad: called for each line without the column, and where the file cannot be read on; such lines are
            left out. None to stop there.

    Raises:
        InputError: with ``on_bad`` None, a missing file or column, or bytes that are not UTF-8.
    """
    if column is not None:
        yield from text_cells(path, column, on_bad)
        return
    try:
        with open_text(path) as lines:
            yield from lines
    except InputError as error:
        if on_bad is None:
            raise
        on_bad(error)
