"""Base class of tasks that read one example per line of text (or row of a table), split into words."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp.runtime import (
    Column,
    Corpus,
    FileCorpus,
    Inputs,
    OnBad,
    expand_inputs,
    open_text,
    reported,
    take_field,
    text_cells,
)
from spectralnlp.tasks.task import Task


class LineTask(Task):
    """Base class of tasks whose examples are lists of words, read one per line."""

    examples_are = "lists of words"
    documents = ("line", "file")

    @staticmethod
    @abstractmethod
    def words_of(line: str) -> list[str]:
        """Split a line into words; lines without words are skipped by `read`."""

    def is_example(self, example: Any) -> bool:
        """Return whether a value can be an example: a sequence of words."""
        return are_words(example)

    def words_in(self, example: list[str]) -> list[str]:
        """Return the example itself, because an example is a list of words."""
        return example

    def with_words(self, example: list[str], words: Sequence[str]) -> list[str]:
        """Return ``words`` as a new example. An example here is a list of words, so nothing else is kept."""
        return list(words)

    def from_record(self, record: Mapping[str, Any]) -> list[str]:
        """Return the words of a record from its field ``tokens``, ``words`` or ``text``, the first present.

        A string is split into words.
        """
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
        """Read the words of each line; skip lines without words.

        Args:
            inputs: files, folders or globs.
            reader: ignored, because there is only one reader.
            on_bad: called with the error of each line that lacks the text column, and of each file that is
                not UTF-8, the rest of which is skipped; None to raise the first error.
            text_column: the column with the text: its name in a table, or its number (from 1) in
                tab-separated lines.

        Raises:
            InputError: an input is missing or unreadable; or, on reading, is not UTF-8 or lacks the column.
        """
        read = partial(_read_words, words_of=self.words_of, column=text_column, on_bad=on_bad)
        return FileCorpus(expand_inputs(inputs), read)


def are_words(value: Any) -> bool:
    """Return whether a value is a sequence of strings, not a single string."""
    return (
        isinstance(value, Sequence | np.ndarray)
        and not isinstance(value, str)
        and all(isinstance(w, str) for w in value)
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
        column: name or number of the column to read (see `text_cells`); None for whole lines.
        on_bad: called with the error of each line that lacks the column, which is skipped, and with an error
            such as invalid UTF-8, which ends the reading; None to raise the first error.

    Raises:
        InputError: ``on_bad`` is None, and the file or column is missing or the file is not UTF-8.
    """
    if column is not None:
        yield from text_cells(path, column, on_bad)
    else:
        yield from reported(_lines(path), on_bad)


def _lines(path: Path) -> Iterator[str]:
    with open_text(path) as lines:
        yield from lines
