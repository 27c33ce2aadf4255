"""Tagged sentences in files: CoNLL-U, columns (CoNLL-2000, 2002, 2003), and ``word_TAG``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import OnBad, open_text

# Words, and a tag for each.
TaggedSentence: TypeAlias = tuple[Sequence[str], Sequence[str]]
# Called for each bad sentence.

_ENCODING_HINT = "it reads as {}: name it with `encoding`, or convert the file to UTF-8"
READERS = ("conllu", "columns", "tagged")
_CONLLU_WIDTH = 10
_CONLLU = {"upos": 3, "xpos": 4}
_DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile(r"[ \t]+")
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # of a word of CoNLL-U, of a range, of an empty node


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence with all the tags that a file gives its words.

    Attributes:
        words: one or more words.
        columns: tags by the column's name: ``upos`` and ``xpos`` of CoNLL-U, ``2``, ``3`` … of columns,
            ``tag`` of ``word_TAG``.
        default: the name of the column that is meant if none is named.
        path: the file.
        line: of its first word, from 1.
    """

    words: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]
    default: str
    path: str | Path = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    __repr__ = one_line

    def tagged(self, column: str | int | None = None) -> TaggedSentence:
        """Return the words with the tags of one column.

        Raises:
            InputError: the file has no such column.
        """
        name = self.default if column is None else str(column)
        if name not in self.columns:
            there = ", ".join(self.columns)
            raise InputError(f"no column {name!r}", path=self.path, line=self.line, hint=f"there is {there}")
        return self.words, self.columns[name]


def read_annotated(
    path: str | Path, reader: str = "auto", on_bad: OnBad | None = None, encoding: str = "utf-8"
) -> Iterator[AnnotatedSentence]:
    """Read the sentences of a file, plain or gzipped; sentences without words are passed over.

    Args:
        path: the file.
        reader: ``conllu``; ``columns``, a word a line, blanks or tabs between it and its tags, an empty line
            between sentences; ``tagged``, a sentence a line of ``word_TAG``; or ``auto``, by the first lines.
        on_bad: called for each bad sentence, which is left out; None to stop at the first.
        encoding: of the file.

    Raises:
        ConfigError: there is no such reader.
        InputError: with ``on_bad`` None, a line without its columns, or bytes that are not in the encoding.
    """
    if reader not in (*READERS, "auto"):
        raise ConfigError(
            f"no reader {reader!r} of tagged text", hint=f"there are auto, {', '.join(READERS)}"
        )
    try:
        with open_text(path, encoding, hint=_ENCODING_HINT) as lines:
            numbered = enumerate(lines, 1)
            head = _head(numbered)
            name = _recognise([line for _, line in head]) if reader == "auto" else reader
            rest = chain(head, numbered)
            report = on_bad or _raise
            if name == "tagged":
                yield from _word_tag(path, rest, report)
            else:
                yield from _blocks(path, rest, name == "conllu", report)
    except InputError as error:
        if on_bad is None:
            raise
        on_bad(error)


def _raise(error: InputError) -> None:
    raise error


def _head(lines: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    """Read the lines up to one that is not blank and cannot be a comment."""
    head: list[tuple[int, str]] = []
    for number, line in lines:
        head.append((number, line))
        if line.strip() and not line.startswith("#"):
            break
    return head


def _recognise(head: Sequence[str]) -> str:
    """Return the reader for a file that begins so. A ``#`` begins a comment of CoNLL-U, or is a word."""
    telling = next((line for line in reversed(head) if line.strip()), "")
    fields = telling.split("\t")
    commented = any(line.startswith("# ") for line in head)
    numbered = len(fields) > 1 and _NUMBER.fullmatch(fields[0]) is not None
    if len(fields) == _CONLLU_WIDTH or (commented and (numbered or telling.startswith("# "))):
        return "conllu"
    words = _fields(telling)
    is_tagged = len(words) != 2 or "_" in words[1][1:]
    return "tagged" if is_tagged and all("_" in word[1:] for word in words) else "columns"


def _fields(line: str) -> list[str]:
    """Split at blanks and tabs; other spaces, such as the one that does not break, are letters."""
    return [field for field in _BLANKS.split(line) if field]


def _blocks(
    path: str | Path, lines: Iterator[tuple[int, str]], conllu: bool, report: OnBad
) -> Iterator[AnnotatedSentence]:
    """Yield sentences of a line a word; of each bad one the error is reported."""
    rows: list[list[str]] = []
    start, error = 0, None
    for number, line in chain(lines, [(0, "")]):
        fields = line.split("\t") if conllu else _fields(line)
        if not line.strip():
            if error is not None:
                report(error)
            elif rows:
                yield _sentence(path, start, rows, conllu)
            rows, error = [], None
        elif conllu and line.startswith("#"):
            continue
        elif error is None and (fault := _fault(fields, rows, conllu)):
            what, hint = fault
            error = InputError(what, path=path, line=number, hint=hint)
        elif _is_word(fields, conllu):
            start = start if rows else number
            rows.append(fields)


def _fault(fields: Sequence[str], rows: Sequence[Sequence[str]], conllu: bool) -> tuple[str, str] | None:
    if conllu and len(fields) != _CONLLU_WIDTH:
        return f"{len(fields)} columns of CoNLL-U's {_CONLLU_WIDTH}", "put tabs between columns"
    if conllu and not fields[1].strip():
        return "a word is missing", "give every token a form"
    if not _is_word(fields, conllu):
        return None
    if not conllu and len(fields) < 2:
        return "a word without a tag", "give a word and its tags a line, blanks between them"
    if not conllu and rows and len(fields) != len(rows[0]):
        return f"{len(fields)} columns, {len(rows[0])} on the line before", "give each word all its tags"
    return None


def _is_word(fields: Sequence[str], conllu: bool) -> bool:
    """Whether a line is no range of CoNLL-U's multiword tokens, no empty node and no mark of a document."""
    return fields[0].isdecimal() if conllu else fields[0] != _DOCUMENT


def _sentence(path: str | Path, line: int, rows: Sequence[Sequence[str]], conllu: bool) -> AnnotatedSentence:
    columns = list(zip(*rows, strict=True))
    if conllu:
        named = {name: columns[i] for name, i in _CONLLU.items()}
        return AnnotatedSentence(words=columns[1], columns=named, default="upos", path=path, line=line)
    named = {str(i): column for i, column in enumerate(columns[1:], 2)}
    return AnnotatedSentence(words=columns[0], columns=named, default=str(len(columns)), path=path, line=line)


def _word_tag(
    path: str | Path, lines: Iterator[tuple[int, str]], report: OnBad
) -> Iterator[AnnotatedSentence]:
    """Yield sentences of a line of ``word_TAG``; of each bad one the error is reported."""
    for number, line in lines:
        tokens = _fields(line)
        bad = next((token for token in tokens if token.rfind("_") in (-1, 0, len(token) - 1)), None)
        if bad is not None:
            report(InputError(f"{bad!r} is not word_TAG", path=path, line=number))
        elif tokens:
            words, _, tags = zip(*(token.rpartition("_") for token in tokens), strict=True)
            yield AnnotatedSentence(words=words, columns={"tag": tags}, default="tag", path=path, line=number)
