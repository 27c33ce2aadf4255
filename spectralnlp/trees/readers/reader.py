"""Base classes of treebank readers, which recognise, decode and read the files of a treebank."""

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
    """Protocol of treebank readers, which plugins register as entry points in ``spectralnlp.readers``.

    Examples:
        >>> from spectralnlp.trees import Reader
        >>> from spectralnlp.trees.readers import PTB
        >>> reader: Reader = PTB
        >>> len(list(reader.read("corpora/treebank/dev.mrg")))
        30
    """

    def read(self, path: str | Path, on_bad: OnBad | None = None) -> Iterator[Tree]:
        """Yield the trees of a file.

        Errors are passed to ``on_bad``; if it is None, the first is raised.
        """


@dataclass(frozen=True)
class EncodedReader:
    """Base class of readers that recognise their files, and that can be given another encoding.

    Args:
        encoding: encoding of the files; a UTF-8 byte order mark and gzip are handled.
        sniff: function that returns whether a file with a given beginning, decoded as ISO-8859-1, looks like
            one of this format.
    """

    encoding: str
    sniff: Callable[[str], bool]

    def with_encoding(self: AnyReader, encoding: str) -> AnyReader:
        """Return a copy of the reader for files in another encoding."""
        return replace(self, encoding=encoding)


@dataclass(frozen=True)
class TreeReader(EncodedReader):
    """Reader for files of bracketed trees in the style of one treebank.

    Args:
        leaf: function that returns the word of a preterminal from its parts; see `read_brackets`.
        adapt: function that changes or skips each tree; see `read_brackets`.
        select: function that replaces lines outside trees by empty ones, which keeps line numbers right.
        note: regular expression by which `changes` counts the metadata nodes that ``adapt`` removes; it
            matches the beginning of a metadata node. None if the format has none.
        empty: regular expression by which `changes` counts empty elements (traces); it matches the beginning
            of an empty element.

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
        """Yield the trees of a file, with traces and function tags; see `read_brackets`.

        Raises:
            InputError: the file cannot be read, or a tree is invalid and ``on_bad`` is None.
        """
        with open_text(path, self.encoding, hint=ENCODING_HINT) as lines:
            yield from self.trees(lines, path, on_bad)

    def trees(self, lines: Iterable[str], path: str | Path | None, on_bad: OnBad | None) -> Iterator[Tree]:
        """Return an iterator over the trees in lines of a file, or of a text that has no path."""
        selected = lines if self.select is None else self.select(lines)
        return read_brackets(selected, path=path, on_bad=on_bad, leaf=self.leaf, adapt=self.adapt)

    def changes(self, path: str | Path) -> ReadingChanges:
        """Count metadata nodes and traces of a file by searching its lines, without parsing the brackets.

        Raises:
            InputError: the file cannot be read.
        """
        found = ReadingChanges()
        with open_text(path, self.encoding, hint=ENCODING_HINT) as lines:
            for line in lines:
                found.notes += 0 if self.note is None else len(self.note.findall(line))
                found.traces += len(self.empty.findall(line))
        return found
