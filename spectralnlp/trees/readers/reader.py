"""Treebank readers: how the files of a treebank are recognised, decoded and read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from spectralnlp.display import one_line
from spectralnlp.runtime import OnBad, open_text
from spectralnlp.trees.brackets import Adapt, Leaf, read_brackets, single_word
from spectralnlp.trees.readers.changes import ReadingChanges
from spectralnlp.trees.tree import Tree

# The encodings of a treebank differ by release: errors name the one that would work.
ENCODING_HINT = "it reads as {}: name it with `encoding`, or convert the file to UTF-8"

AnyReader = TypeVar("AnyReader", bound="EncodedReader")


class Reader(Protocol):
    """A treebank reader: an entry point in ``spectralnlp.readers``.

    Examples:
        >>> from spectralnlp.trees import Reader
        >>> from spectralnlp.trees.readers import PTB
        >>> reader: Reader = PTB
        >>> len(list(reader.read("corpora/treebank/dev.mrg")))
        30
    """

    def read(self, path: str | Path, on_bad: OnBad | None = None) -> Iterator[Tree]:
        """The trees of a file; InputError for the first bad one, unless ``on_bad`` takes the errors."""


@dataclass(frozen=True)
class EncodedReader:
    """A reader that recognises its files and can be told their encoding.

    Args:
        encoding: of its files; a UTF-8 byte order mark and gzip are dealt with.
        sniff: whether a file with this beginning, decoded as ISO-8859-1, looks like one of the treebank's.
    """

    encoding: str
    sniff: Callable[[str], bool]

    def with_encoding(self: AnyReader, encoding: str) -> AnyReader:
        """Return the reader for files in another encoding."""
        return replace(self, encoding=encoding)


@dataclass(frozen=True)
class TreeReader(EncodedReader):
    """How the files of one treebank of bracketed trees are read.

    Args:
        leaf: makes a word of what stands under a preterminal; see `read_brackets`.
        adapt: changes each tree; see `read_brackets`.
        select: blanks the lines that belong to no tree, so that the others keep their numbers.
        note: finds the beginnings of nodes that ``adapt`` leaves out because they are about the text.
        empty: finds empty elements.

    Examples:
        >>> from spectralnlp.trees import TreeReader
        >>> reader = TreeReader(encoding="utf-8", sniff=lambda beginning: beginning.startswith("("))
        >>> len(list(reader.read("corpora/treebank/spanish.mrg")))
        25
    """

    leaf: Leaf = single_word
    adapt: Adapt | None = None
    select: Callable[[Iterable[str]], Iterable[str]] | None = None
    note: re.Pattern[str] | None = None
    empty: re.Pattern[str] = re.compile(r"\(-NONE-\s")

    __repr__ = one_line

    def read(self, path: str | Path, on_bad: OnBad | None = None) -> Iterator[Tree]:
        """The trees of a file, one after the other, as they stand there; see `read_brackets`.

        Raises:
            InputError: the file cannot be read, or a tree is bad and there is no ``on_bad``.
        """
        with open_text(path, self.encoding, hint=ENCODING_HINT) as lines:
            yield from self.trees(lines, path, on_bad)

    def trees(self, lines: Iterable[str], path: str | Path | None, on_bad: OnBad | None) -> Iterator[Tree]:
        """The trees in the lines of a file, or of a text that has no path."""
        selected = lines if self.select is None else self.select(lines)
        return read_brackets(selected, path=path, on_bad=on_bad, leaf=self.leaf, adapt=self.adapt)

    def changes(self, path: str | Path) -> ReadingChanges:
        """Count notes and traces of a file, in its lines: brackets are not checked.

        Raises:
            InputError: the file cannot be read.
        """
        found = ReadingChanges()
        with open_text(path, self.encoding, hint=ENCODING_HINT) as lines:
            for line in lines:
                found.notes += 0 if self.note is None else len(self.note.findall(line))
                found.traces += len(self.empty.findall(line))
        return found
