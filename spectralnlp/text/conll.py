"""Read tagged sentences: CoNLL-U, columns (CoNLL-2000, 2002, 2003), and ``word_TAG``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import OnBad, open_text, report_bad
from spectralnlp.text.annotations import Annotations

# Words, and one tag for each word; strings, in memory also integers (`spectralnlp.runtime.Symbol`).
TaggedSentence: TypeAlias = tuple[Sequence[Any], Sequence[Any]]
# Callback for bad sentences.

_ENCODING_HINT = "it reads as {}: name it with `encoding`, or convert the file to UTF-8"
READERS = ("conllu", "columns", "tagged")
_CONLLU_WIDTH = 10
_SHOWN = 40  # characters of a value that a message quotes
_CONLLU = {"upos": 3, "xpos": 4}
_HEAD, _RELATION = 6, 7
_GENERATOR = re.compile(r"#\s*generator\s*=\s*(.*\S)")
_NO_VALUE = "_"
_DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile(r"[ \t]+")
_NUMBER = re.compile(r"\d+([-.]\d+)?")  # CoNLL-U ids: word, range of a multiword token, empty node


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence with all the columns of tags in its file.

    Attributes:
        words: one or more words.
        columns: tags by name of the column: ``upos`` and ``xpos`` in CoNLL-U; the numbers ``2``, ``3``,
            … in files of plain columns; ``tag`` in files of ``word_TAG``.
        default: name of the column that is used unless another is requested.
        path: the file.
        line: line number of the first word, from 1.
        dependencies: the columns ``HEAD`` and ``DEPREL`` of CoNLL-U; None in other formats.
        generator: what made the annotations, from the last comment ``# generator = …``; empty if none says.
    """

    words: tuple[str, ...]
    columns: Mapping[str, tuple[Any, ...]]
    default: str
    path: str | Path = field(default="", compare=False)
    line: int = field(default=0, compare=False)
    dependencies: tuple[tuple[str, ...], tuple[str, ...]] | None = field(default=None, compare=False)
    generator: str = field(default="", compare=False)

    __repr__ = one_line

    def tagged(self, column: str | int | None = None) -> TaggedSentence:
        """Return the words and the tags of one column.

        Raises:
            InputError: the file has no such column.
        """
        name = self.default if column is None else str(column)
        if name not in self.columns:
            there = ", ".join(self.columns)
            raise InputError(f"no column {name!r}", path=self.path, line=self.line, hint=f"there is {there}")
        return self.words, self.columns[name]

    def annotations(self) -> Annotations:
        """Return the sentence's tags and dependency parse.

        The tags are those of the column ``XPOS`` or, if it is empty, ``UPOS``.

        Raises:
            InputError: the file is not CoNLL-U; a head, relation or tag is missing; or heads form no trees
                (`Annotations`).
        """
        if self.dependencies is None:
            raise InputError("no heads and relations", path=self.path, hint="give a file in CoNLL-U")
        heads, relations = self.dependencies
        tags = self.columns["upos" if set(self.columns["xpos"]) == {_NO_VALUE} else "xpos"]
        for name, column in (("head", heads), ("relation", relations), ("tag", tags)):
            if _NO_VALUE in column:
                what = f"token {column.index(_NO_VALUE) + 1} has no {name}"
                raise self._error(what, "give each token a head, relation and tag")
        for number, head in enumerate(heads, 1):
            if not head.isdecimal() or int(head) > len(heads) or int(head) == number:
                what = f"token {number} has the head {head[:_SHOWN]!r}, of {len(heads)} tokens"
                raise self._error(what, "count tokens from 1; the head of a root is 0")
        try:
            return Annotations([int(head) - 1 for head in heads], relations, tags)
        except InputError as error:
            raise self._error(error.what, "heads count tokens from 1; that of a root is 0") from error

    def _error(self, what: str, hint: str) -> InputError:
        return InputError(what, path=self.path, line=self.line, hint=hint)


def read_annotated(
    path: str | Path, reader: str = "auto", on_bad: OnBad | None = None, encoding: str = "utf-8"
) -> Iterator[AnnotatedSentence]:
    """Read the sentences of a file, plain or gzipped; sentences without words are skipped.

    Args:
        path: the file.
        reader: ``conllu``; ``columns``, one word per line, blanks or tabs between it and its tags, an empty
            line between sentences; ``tagged``, one sentence of ``word_TAG`` per line; or ``auto``, recognised
            from the first lines.
        on_bad: called with the error of each bad sentence, which is skipped; None to raise the first error.
        encoding: encoding of the file.

    Raises:
        ConfigError: there is no such reader.
        InputError: a line lacks columns, or the file is not in the encoding; only if ``on_bad`` is None.
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
            report = partial(report_bad, on_bad=on_bad)
            if name == "tagged":
                yield from _word_tag(path, rest, report)
            else:
                yield from _blocks(path, rest, name == "conllu", report)
    except InputError as error:
        report_bad(error, on_bad)


def read_conllu(lines: Iterable[str], path: str | Path) -> Iterator[AnnotatedSentence]:
    """Read the sentences of CoNLL-U from lines.

    Args:
        lines: the lines, with or without their ends.
        path: the file, for messages.

    Raises:
        InputError: a line lacks columns, or there is no sentence.
    """
    sentence = None
    numbered = ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, 1))
    for sentence in _blocks(path, numbered, True, partial(report_bad, on_bad=None)):
        yield sentence
    if sentence is None:
        raise InputError("no sentence", path=path, hint="give CoNLL-U, a line for each token")


def _head(lines: Iterator[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the first lines of a file, up to and including the first that is neither blank nor a comment.

    Every line that begins with ``#`` is taken for a comment.
    """
    head: list[tuple[int, str]] = []
    for number, line in lines:
        head.append((number, line))
        if line.strip() and not line.startswith("#"):
            break
    return head


def _recognise(head: Sequence[str]) -> str:
    """Return the reader that suits a file, given its first lines.

    A line that begins with ``#`` may be a comment of CoNLL-U, or a word.
    """
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
    """Split a line at blanks and tabs only; other spaces, such as the no-break space, are part of a word."""
    return [field for field in _BLANKS.split(line) if field]


def _blocks(
    path: str | Path, lines: Iterator[tuple[int, str]], conllu: bool, report: OnBad
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of lines with one word each; bad sentences are reported and skipped.

    Args:
        path: path of the file, for error messages.
        lines: pairs of a line number, from 1, and a line.
        conllu: whether the format is CoNLL-U instead of columns.
        report: called with the error of each bad sentence, which is skipped.
    """
    rows: list[list[str]] = []
    start, error, generator = 0, None, ""
    for number, line in chain(lines, [(0, "")]):
        fields = line.split("\t") if conllu else _fields(line)
        if not line.strip():
            if error is not None:
                report(error)
            elif rows:
                yield _sentence(path, start, rows, conllu, generator)
            rows, error = [], None
        elif conllu and line.startswith("#"):
            match = _GENERATOR.match(line)
            generator = match[1] if match else generator
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
    """Whether a line is a word, not a multiword token or empty node of CoNLL-U, nor ``-DOCSTART-``."""
    return fields[0].isdecimal() if conllu else fields[0] != _DOCUMENT


def _sentence(
    path: str | Path, line: int, rows: Sequence[Sequence[str]], conllu: bool, generator: str
) -> AnnotatedSentence:
    columns = list(zip(*rows, strict=True))
    if conllu:
        named = {name: columns[i] for name, i in _CONLLU.items()}
        return AnnotatedSentence(
            words=columns[1],
            columns=named,
            default="upos",
            path=path,
            line=line,
            dependencies=(columns[_HEAD], columns[_RELATION]),
            generator=generator,
        )
    named = {str(i): column for i, column in enumerate(columns[1:], 2)}
    return AnnotatedSentence(words=columns[0], columns=named, default=str(len(columns)), path=path, line=line)


def _word_tag(
    path: str | Path, lines: Iterator[tuple[int, str]], report: OnBad
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of lines in the format ``word_TAG``; bad sentences are reported and skipped.

    Args:
        path: path of the file, for error messages.
        lines: pairs of a line number, from 1, and a line.
        report: called with the error of each bad sentence, which is skipped.
    """
    for number, line in lines:
        tokens = _fields(line)
        bad = next((token for token in tokens if token.rfind("_") in (-1, 0, len(token) - 1)), None)
        if bad is not None:
            report(InputError(f"{bad!r} is not word_TAG", path=path, line=number))
        elif tokens:
            words, _, tags = zip(*(token.rpartition("_") for token in tokens), strict=True)
            yield AnnotatedSentence(words=words, columns={"tag": tags}, default="tag", path=path, line=number)
