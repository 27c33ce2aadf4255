"""Choose a treebank reader by name or by the beginning of a file, and read files with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from spectralnlp.errors import ConfigError, InputError, RegistryError
from spectralnlp.registry import readers
from spectralnlp.runtime import OnBad, is_address, open_text
from spectralnlp.trees.readers.alpino import ALPINO
from spectralnlp.trees.readers.cess import CESS_ESP
from spectralnlp.trees.readers.changes import ReadingChanges
from spectralnlp.trees.readers.chinese import CHINESE
from spectralnlp.trees.readers.export import EXPORT
from spectralnlp.trees.readers.graph_reader import GraphReader
from spectralnlp.trees.readers.ontonotes import ONTONOTES
from spectralnlp.trees.readers.penn import BRACKETS, CRAFT, GUM, PTB
from spectralnlp.trees.readers.penn_helsinki import PENN_HELSINKI, PennHelsinkiReader
from spectralnlp.trees.readers.reader import Reader, TreeReader
from spectralnlp.trees.readers.spmrl import SPMRL
from spectralnlp.trees.readers.tiger_xml import TIGER_XML
from spectralnlp.trees.tree import Tree

_HEAD_LINES, _HEAD_CHARACTERS = 200, 20_000
_MOST_SPECIFIC_FIRST: tuple[TreeReader | GraphReader, ...] = (
    ALPINO,
    TIGER_XML,
    EXPORT,
    ONTONOTES,
    CHINESE,
    SPMRL,
    PENN_HELSINKI,
    CESS_ESP,
    GUM,
    CRAFT,
    PTB,
)


def recognise(path: str | Path) -> Reader:
    """Return the reader for a file, recognised by its beginning; `BRACKETS` if no other reader fits.

    Readers of plugins with a method ``sniff``, which tells whether a beginning fits their format, are tried
    first. Pipes, which can be read only once, are assumed to hold brackets.

    Raises:
        InputError: the file cannot be read.

    Examples:
        >>> from spectralnlp.trees import recognise
        >>> from spectralnlp.trees.readers import PTB
        >>> recognise("corpora/treebank/train.mrg") is PTB
        True
    """
    if not is_address(path) and _is_a_pipe(Path(path)):
        return BRACKETS
    head, n_characters = [], 0
    with open_text(path, "iso-8859-1") as lines:  # decodes any bytes; the marks looked for are ASCII
        for line in islice(lines, _HEAD_LINES):
            head.append(line[:_HEAD_CHARACTERS])
            n_characters += len(line)
            if n_characters > _HEAD_CHARACTERS:
                break
    beginning = "\n".join(head)
    asked = (*_of_plugins(), *_MOST_SPECIFIC_FIRST)
    return next((reader for reader in asked if reader.sniff(beginning)), BRACKETS)


def _of_plugins() -> Iterator[Any]:
    """Yield the readers registered by plugins that can recognise files.

    Readers that fail to load are skipped.
    """
    own = {id(reader) for reader in (*_MOST_SPECIFIC_FIRST, BRACKETS)}
    for name in readers.names():
        with suppress(RegistryError):
            reader = readers.get(name)
            if id(reader) not in own and hasattr(reader, "sniff"):
                yield reader


def _is_a_pipe(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


def read_trees(
    path: str | Path,
    reader: str | Reader = "auto",
    on_bad: OnBad | None = None,
    encoding: str | None = None,
    *,
    functions: bool = False,
) -> Iterator[Tree]:
    """Yield the trees of a treebank file, with traces and function tags.

    Args:
        path: the file, plain or gzipped.
        reader: a reader, the name of a registered one (``ptb``), or ``auto`` for `recognise`.
        on_bad: called with the error of each invalid tree, which is skipped; see `read_brackets`.
        encoding: encoding of the file; None for the encoding that the reader expects.
        functions: whether labels of phrases and words have functions, ``NP-SB`` and ``PPER-SB``, also in
            formats that keep them apart (``export``, ``tigerxml``, ``alpino``).

    Raises:
        InputError: the file cannot be read, or a tree is invalid and ``on_bad`` is None.
        RegistryError: there is no reader with this name.
        ConfigError: an encoding is given, but the reader does not support other encodings.

    Examples:
        >>> from spectralnlp.trees import read_trees
        >>> len(list(read_trees("corpora/treebank/dev.mrg")))
        30
    """
    named = _reader_of(path, reader, encoding)
    if functions and isinstance(named, GraphReader):
        named = replace(named, functions=True)
    yield from named.read(path, on_bad)


def count_changes(
    path: str | Path, reader: str | Reader = "auto", encoding: str | None = None
) -> ReadingChanges | None:
    """Count the nodes that a reader removes and moves in a file; None if the reader cannot count them.

    Args:
        path: the file; for a pipe, which can be read only once, the result is None.
        reader: a reader, the name of a registered one (``ptb``), or ``auto`` for `recognise`.
        encoding: encoding of the file; None for the encoding that the reader expects.

    Raises:
        InputError: the file cannot be read.
        RegistryError: there is no reader with this name.

    Examples:
        >>> from spectralnlp.trees import count_changes
        >>> count_changes("corpora/formats/german.export").trees
        4
    """
    if not is_address(path) and _is_a_pipe(Path(path)):
        return None
    count = getattr(_reader_of(path, reader, encoding), "changes", None)
    return None if count is None else count(path)


def changes_of(
    paths: Iterable[str | Path], reader: str = "auto", encoding: str | None = None, *, clean: bool = True
) -> list[str]:
    """Describe in lines, for users, how many nodes are removed and moved when files are read.

    Args:
        paths: the files.
        reader: name of a registered reader (``ptb``), or ``auto`` for `recognise`.
        encoding: encoding of the files; None for the encoding that the reader expects.
        clean: whether the caller removes traces and functions; traces are then counted too.

    Returns:
        A line if a node is removed or moved; unless ``clean``, also lines that say what readers add to trees:
        functions in labels, and tags of empty elements.
    """
    found, remarks = ReadingChanges(), dict[str, None]()
    for path in paths:
        with suppress(InputError):  # those who read the trees are told
            counts = count_changes(path, reader, encoding)
            found += counts or ReadingChanges()
            named = None if counts is None else _reader_of(path, reader, encoding)
            if isinstance(named, GraphReader):
                remarks["labels have functions, as NP-SB: @NP is NP with any"] = None
            elif isinstance(named, PennHelsinkiReader) and counts is not None and counts.traces:
                remarks["empty elements are under a tag, -NONE-: NP << /pro/, not NP < /pro/"] = None
    if not clean:
        found.traces = 0
    return [line for line in (str(found), *(() if clean else remarks)) if line]


def _reader_of(path: str | Path, reader: str | Reader, encoding: str | None) -> Reader:
    if isinstance(reader, str):
        named: Reader = recognise(path) if reader == "auto" else readers.get(reader)
        called = reader
    else:
        named, called = reader, type(reader).__name__
    if encoding is None:
        return named
    with_encoding = getattr(named, "with_encoding", None)
    if with_encoding is None:
        raise ConfigError(f"reader {called} cannot be given an `encoding`", hint="convert the files")
    encoded: Reader = with_encoding(encoding)
    return encoded
