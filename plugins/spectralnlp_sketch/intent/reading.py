"""Read labelled and unlabelled texts from files of lines or tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import (
    LABEL_NAMES,
    TEXT_NAMES,
    Column,
    Corpus,
    FileCorpus,
    Inputs,
    Location,
    OnBad,
    Partition,
    Table,
    expand_inputs,
    find_table,
    not_text,
    open_text,
    read_ahead,
    remarks_on_files,
    reported,
)
from spectralnlp_sketch.labelled import SAMPLED, Example, fault_of_swapped, plain_label

_NOT_FOUND = "name it: `{}`; {}"


class ExampleFiles(Corpus[Example]):
    """Corpus of files with labelled texts, followed by files with unlabelled texts.

    Args:
        labelled: tables, or files of lines ``label TAB text``.
        unlabelled: tables, or files with one text a line; in lines with tabs, the text follows the first tab.
        text_column: name or number of the column of texts; None to recognise it.
        label_column: name or number of the column of labels; None to recognise it.
        needs_labels: whether an empty label is an error instead of marking an unlabelled text.
        encoding: encoding of the files.
        on_bad: called with the error of each row that cannot be read; None to raise the error.
    """

    def __init__(
        self,
        labelled: Sequence[str | Path],
        unlabelled: Sequence[str | Path] = (),
        *,
        text_column: Column | None = None,
        label_column: Column | None = None,
        needs_labels: bool = False,
        encoding: str = "utf-8",
        on_bad: OnBad | None = None,
    ) -> None:
        self.paths = [*labelled, *unlabelled]
        self._columns = (text_column, label_column)
        self._encoding = encoding
        first = partial(_labelled_not_swapped, self._columns, needs_labels, encoding)
        self._labelled = FileCorpus(labelled, partial(_reported, first, on_bad))
        second = partial(_unlabelled, text_column, encoding)
        self._unlabelled = FileCorpus(unlabelled, partial(_reported, second, on_bad))

    def partitions(self) -> list[Partition[Example]]:
        """Return one partition for each file."""
        first = list(self._labelled.partitions())
        rest = [
            Partition(each.document, len(first) + each.document_index, 0, each.read)
            for each in self._unlabelled.partitions()
        ]
        return first + rest

    def remarks(self, *, training: bool = False) -> list[str]:
        """Return messages that name the columns read; consecutive files with the same columns share one."""
        taken = [(str(path), self._taken(path)) for path in self._labelled.paths]
        taken += [(str(path), self._taken_unlabelled(path)) for path in self._unlabelled.paths]
        return remarks_on_files(taken)

    def _taken(self, path: Location) -> str:
        """Return a message that names the columns read from a labelled file; empty if they have no names."""
        with suppress(InputError):
            table = find_table(path, self._columns, encoding=self._encoding)
            if table is not None and table.names:
                text, label = _both(table, self._columns)
                return f"texts are in the column {text!r}, labels in {label!r}"
        return ""

    def _taken_unlabelled(self, path: Location) -> str:
        with suppress(InputError):
            table = _unlabelled_table(path, self._columns[0], self._encoding)
            if table is not None and table.names:
                return f"texts are in the column {_text_of(table, self._columns[0])!r}"
        return ""


def read_texts(
    inputs: Inputs,
    *,
    unlabelled: Inputs = (),
    text_column: Column | None = None,
    label_column: Column | None = None,
    encoding: str = "utf-8",
    on_bad: OnBad | None = None,
) -> Corpus[Example]:
    """Read texts and their labels from files, for `spectralnlp.train` and the ``fit`` of classifiers.

    A ``.csv``, ``.jsonl`` or ``.parquet`` file is a table whose columns have names; so is a ``.tsv`` whose
    first line looks like names. Other files have lines of a label, a tab and a text.

    Args:
        inputs: files, folders and globs, plain or gzipped.
        unlabelled: files, folders and globs of unlabelled texts, as a column of tables or as lines.
        text_column: name of the column of texts, or its number (from 1) in files without names; None to
            recognise it by a name such as ``text``, ``sentence``, ``utterance`` or ``query``.
        label_column: name or number of the column of labels; None to recognise it by a name such as
            ``label``, ``intent``, ``category`` or ``class``.
        encoding: encoding of the files.
        on_bad: called with the error of each row that cannot be read, which is then skipped; None to raise
            the first error.

    Returns:
        A corpus of (text, label) pairs; the label is a string, or None for an unlabelled text. Its
        ``remarks()`` name the columns used.

    Raises:
        InputError: a file is missing or unreadable; on reading, a column is missing or a row is bad.
        ConfigError: on reading, a file is Parquet and pyarrow is not installed.

    Examples:
        >>> from spectralnlp_sketch import read_texts
        >>> text, label = next(iter(read_texts("corpora/intents/train.tsv")))
        >>> label
        'timetable'
    """
    return ExampleFiles(
        expand_inputs(inputs),
        expand_inputs(unlabelled),
        text_column=text_column,
        label_column=label_column,
        encoding=encoding,
        on_bad=on_bad,
    )


def _reported(
    read: Callable[[Path], Iterator[Example | InputError]], on_bad: OnBad | None, path: Path
) -> Iterator[Example]:
    return reported(read(path), on_bad)


def _labelled_not_swapped(
    columns: tuple[Column | None, Column | None], needs_labels: bool, encoding: str, path: Path
) -> Iterator[Example | InputError]:
    """Read texts and labels as `_labelled` does; refuse a file in which they seem to be swapped."""
    head, rest = read_ahead(_labelled(columns, needs_labels, encoding, path), SAMPLED)
    if what := fault_of_swapped(each for each in head if isinstance(each, Example)):
        raise InputError(what, path=path, hint="lines are: label, tab, text; columns of tables have options")
    yield from head
    yield from rest


def _labelled(
    columns: tuple[Column | None, Column | None], needs_labels: bool, encoding: str, path: Path
) -> Iterator[Example | InputError]:
    """Read texts and labels from the rows of a table, or from lines ``label TAB text``.

    Empty lines are skipped. An error is yielded for a row without a text, and a line without a label.

    Args:
        columns: names or numbers of the columns of texts and of labels; None to recognise them.
        needs_labels: whether an empty label is an error instead of marking an unlabelled text.
        encoding: encoding of the file.
        path: path of the file.

    Raises:
        InputError: a column is missing, or bytes are not in the encoding.
    """
    table = find_table(path, columns, encoding=encoding)
    if table is None:
        yield from _labelled_lines(path, encoding)
        return
    for row in table.rows(_both(table, columns)):
        yield row if isinstance(row, InputError) else _example(path, *row, needs_labels)


def _example(path: Path, number: int, cells: Sequence[object], needs_labels: bool) -> Example | InputError:
    text, label = cells[0], _label_of(cells[1])
    if not isinstance(text, str):
        return not_text(text, path, number)
    if text.strip() and (label is not None or not needs_labels):
        return Example(text, label)
    return InputError("no label" if text.strip() else "an empty text", path=path, line=number)


def _unlabelled(text_column: Column | None, encoding: str, path: Path) -> Iterator[Example | InputError]:
    """Read unlabelled texts from the rows of a table, or from lines; empty texts are skipped.

    Args:
        text_column: name or number of the column of texts in a table; None to recognise it.
        encoding: encoding of the file.
        path: path of the file.

    Yields:
        Examples without labels; if a line contains a tab, the text after the first tab. Errors for cells that
        are not text.
    """
    table = _unlabelled_table(path, text_column, encoding)
    if table is None:
        for _, line in _lines(path, encoding):
            label, tab, text = line.partition("\t")
            yield Example(text if tab else label)
        return
    for row in table.rows([_text_of(table, text_column)]):
        if isinstance(row, InputError):
            yield row
            continue
        number, (text,) = row
        if isinstance(text, str) and text.strip():
            yield Example(text)
        elif text is not None and not isinstance(text, str):
            yield not_text(text, path, number)


def read_column(path: str | Path, text_column: Column | None = None) -> tuple[Column, Iterator[str]] | None:
    """Read the texts of a table, one for each row; a missing text is returned as an empty string.

    Args:
        path: path of the file.
        text_column: name or number of the column of texts; None to recognise it by its name.

    Returns:
        The name or number of the column, and its texts; None if the file is not a table.

    Raises:
        InputError: the column is missing, a value is not text, or the file cannot be read.
    """
    table = find_table(path, [text_column])
    if table is None:
        return None
    column = _text_of(table, text_column)
    return column, _texts(table, column)


def _texts(table: Table, column: Column) -> Iterator[str]:
    for number, (text,) in reported(table.rows([column]), None):
        if text is not None and not isinstance(text, str):
            raise not_text(text, table.path, number)
        yield " ".join((text or "").split("\n"))


def _unlabelled_table(path: Path | str, text_column: Column | None, encoding: str) -> Table | None:
    """Open a file of unlabelled texts as a table; return None if it holds one text a line instead."""
    table = find_table(path, encoding=encoding)
    return None if table is None else find_table(path, [text_column], encoding=encoding)


def _both(table: Table, columns: tuple[Column | None, Column | None]) -> tuple[Column, Column]:
    text, label = _text_of(table, columns[0]), table.column(columns[1], LABEL_NAMES)
    if label is None or label == text:
        hint = _NOT_FOUND.format("label_column", table.there())
        raise InputError("no column of labels is recognised by its name", path=table.path, hint=hint)
    return text, label


def _text_of(table: Table, column: Column | None) -> Column:
    text = table.column(column, TEXT_NAMES)
    if text is None:
        hint = _NOT_FOUND.format("text_column", table.there())
        raise InputError("no column of texts is recognised by its name", path=table.path, hint=hint)
    return text


def _label_of(value: object) -> str | None:
    """Return a label as a string, or None for an empty cell, a null or NaN."""
    label = plain_label(value)
    return None if label is None else str(label).strip() or None


def _labelled_lines(path: Path, encoding: str) -> Iterator[Example | InputError]:
    for number, line in _lines(path, encoding):
        label, tab, text = line.partition("\t")
        if tab and label.strip() and text.strip():
            yield Example(text, label.strip())
            continue
        what = "no tab" if not tab else "no label before the tab" if not label.strip() else "an empty text"
        yield InputError(what, path=path, line=number, hint="lines are: label, tab, text")


def _lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield the non-blank lines of a file with their line numbers."""
    with open_text(path, encoding) as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                yield number, line
