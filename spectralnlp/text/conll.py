"""Read tagged sentences: CoNLL-U and other formats of CoNLL, plain columns, and ``word_TAG``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.runtime import OnBad, open_text, read_ahead, report_bad
from spectralnlp.text.annotations import Annotations

# Words, and one tag for each word; strings, in memory also integers (`spectralnlp.runtime.Symbol`).
TaggedSentence: TypeAlias = tuple[Sequence[Any], Sequence[Any]]
# Callback for bad sentences.

_ENCODING_HINT = "it reads as {}: name it with `encoding`, or convert the file to UTF-8"
_SHOWN = 40  # characters of a value that a message quotes
_HEAD, _RELATION = 6, 7  # of CoNLL-U
_GENERATOR = re.compile(r"#\s*generator\s*=\s*(.*\S)")
_NO_VALUE = "_"
_DOCUMENT = "-DOCSTART-"
_BLANKS = re.compile(r"[ \t]+")
# Word ids; in CoNLL-U also ranges of words and empty nodes.
_NUMBER = re.compile(r"(\d{1,9})(?:-(\d{1,9})|(\.\d+))?")
_PLACE = re.compile(r"\d{1,9}")
_SAMPLED = 50  # lines after the first word from which a format is recognised
_LONG = 5  # columns of which the first is surely an id if it is a number


class _Numbered(NamedTuple):
    """A format of CoNLL in which each word has a number.

    Attributes:
        title: what the format is called.
        widths: least and greatest number of columns.
        id, form: columns of the number and of the word, from 0.
        first: number of the first word.
        tags: column of each kind of tags, from 0; the first is the default.
    """

    title: str
    widths: tuple[int, float]
    id: int
    form: int
    first: int
    tags: Mapping[str, int]

    def split(self, line: str) -> list[str]:
        """Return the columns of a line; only CoNLL-2012 has blanks between them."""
        return _fields(line) if self is _CONLL_2012 else line.split("\t")

    def fits(self, line: str) -> bool:
        """Return whether a line has this format's columns, blanks between allowed, and a number as id."""
        least, most = self.widths
        return any(
            least <= len(fields) <= most and _NUMBER.fullmatch(fields[self.id]) is not None
            for fields in (line.split("\t"), _fields(line))
        )


_CONLL_U = _Numbered("CoNLL-U or CoNLL-X", (10, 10), 0, 1, 1, {"upos": 3, "xpos": 4})
_CONLL_2009 = _Numbered("CoNLL-2009", (14, float("inf")), 0, 1, 1, {"xpos": 4})
_CONLL_2012 = _Numbered("CoNLL-2012", (12, float("inf")), 2, 3, 0, {"xpos": 4})
_NUMBERED = {"conllu": _CONLL_U, "conll2009": _CONLL_2009, "conll2012": _CONLL_2012}
READERS = (*_NUMBERED, "columns", "tagged")


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence with all the columns of tags in its file.

    Attributes:
        words: one or more words.
        columns: tags by name of the column: ``upos`` and ``xpos`` in CoNLL-U (CPOSTAG and POSTAG in
            CoNLL-X), ``xpos`` in CoNLL-2009 and CoNLL-2012; the numbers ``2``, ``3``, … in files of plain
            columns; ``tag`` in files of ``word_TAG``.
        default: name of the column that is used unless another is requested.
        path: the file.
        line: line number of the first word, from 1.
        dependencies: the columns ``HEAD`` and ``DEPREL`` of CoNLL-U and CoNLL-X; None in other formats.
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
            InputError: the file has no such column, or ``column`` is None and the default one has none.
        """
        name = self.default if column is None else str(column)
        if name not in self.columns:
            raise self._error(f"no column {name!r}", f"there is {', '.join(self.columns)}")
        if column is None and name in _CONLL_U.tags and set(self.columns[name]) == {_NO_VALUE}:
            raise self._error(f"no tags in the column {name!r}", "choose one that has tags by `column`")
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
            if not _PLACE.fullmatch(head) or int(head) > len(heads) or int(head) == number:
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
        reader: ``conllu``, also for CoNLL-X; ``conll2009``; ``conll2012``; ``columns``, one word per line,
            blanks or tabs between it and its tags, an empty line between sentences; ``tagged``, one sentence
            of ``word_TAG`` per line; or ``auto``, recognised from the first lines.
        on_bad: called with the error of each bad sentence, which is skipped; None to raise the first error.
        encoding: encoding of the file.

    Raises:
        ConfigError: there is no such reader.
        InputError: a line lacks columns, words are misnumbered, or the file is in another format or encoding;
            only if ``on_bad`` is None.
    """
    if reader not in (*READERS, "auto"):
        raise ConfigError(
            f"no reader {reader!r} of tagged text", hint=f"there are auto, {', '.join(READERS)}"
        )
    try:
        with open_text(path, encoding, hint=_ENCODING_HINT) as lines:
            name, rest = _begin(lines, path, reader)
            report = partial(report_bad, on_bad=on_bad)
            if name == "tagged":
                yield from _word_tag(path, rest, report)
            else:
                yield from _blocks(path, rest, _NUMBERED.get(name), report)
    except InputError as error:
        report_bad(error, on_bad)


def title_of(path: str | Path, encoding: str = "utf-8") -> str:
    """Return what the recognised format of a file is called, such as ``CoNLL-2009``.

    Raises:
        InputError: the file cannot be read, or its format is not known.
    """
    with open_text(path, encoding) as lines:
        name, _ = _begin(lines, path, "auto")
        if name in _NUMBERED:
            return _NUMBERED[name].title
        return "word_TAG" if name == "tagged" else "columns (as CoNLL-2000 and 2003), words in the first"


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
    for sentence in _blocks(path, numbered, _CONLL_U, partial(report_bad, on_bad=None)):
        yield sentence
    if sentence is None:
        raise InputError("no sentence", path=path, hint="give CoNLL-U, a line for each token")


def _begin(lines: Iterator[str], path: str | Path, reader: str) -> tuple[str, Iterator[tuple[int, str]]]:
    """Return the reader that suits a file, and its lines with their numbers.

    Raises:
        InputError: the file has columns, a word's number first, but is in no known format.
    """
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    head = _head(numbered)
    more, numbered = read_ahead(numbered, _SAMPLED)
    rest = chain(head, more, numbered)
    if reader not in ("auto", "columns"):
        return reader, rest
    name = _recognise([line for _, line in head]) if reader == "auto" else reader
    rows = [line for _, line in (*head[-1:], *more) if line.strip() and not line.startswith("#")]
    if name != "columns" or not rows:
        return name, rest
    for found, numbered_format in _NUMBERED.items():
        if reader == "auto" and all(map(numbered_format.fits, rows)):
            return found, rest
    widths = [len(_fields(row)) for row in rows]
    if _are_numbered([_fields(row)[0] for row in rows]) and (len(rows) > 1 or widths[0] >= _LONG):
        what = f"{widths[0]} columns, a number in the first: in no format that is known"
        hint = (
            "CoNLL-U and CoNLL-X have 10, tabs between, CoNLL-2009 has 14 or more; columns begin with a word"
        )
        raise InputError(what, path=path, line=head[-1][0], hint=hint)
    return name, rest


def _are_numbered(ids: Sequence[str]) -> bool:
    """Whether the first fields of lines are numbers of words, not words."""
    return ids[0].partition("-")[0] in ("0", "1") and all(map(_NUMBER.fullmatch, ids))


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
    if len(fields) == _CONLL_U.widths[0] or (commented and (numbered or telling.startswith("# "))):
        return "conllu"
    if any(line.startswith("#begin document") for line in head):
        return "conll2012"
    words = _fields(telling)
    is_tagged = len(words) != 2 or "_" in words[1][1:]
    return "tagged" if is_tagged and all("_" in word[1:] for word in words) else "columns"


def _fields(line: str) -> list[str]:
    """Split a line at blanks and tabs only; other spaces, such as the no-break space, are part of a word."""
    return [field for field in _BLANKS.split(line) if field]


def _blocks(
    path: str | Path, lines: Iterator[tuple[int, str]], format_: _Numbered | None, report: OnBad
) -> Iterator[AnnotatedSentence]:
    """Yield the sentences of lines with one word each; bad sentences are reported and skipped.

    Args:
        path: path of the file, for error messages.
        lines: pairs of a line number, from 1, and a line.
        format_: format of the lines if words are numbered; None for plain columns.
        report: called with the error of each bad sentence, which is skipped.
    """
    rows: list[list[str]] = []
    start, error, generator = 0, None, ""
    for number, line in chain(lines, [(0, "")]):
        is_comment = format_ is not None and line.startswith("#")
        if is_comment and rows and not line.startswith("#end"):
            what, hint = "a comment within a sentence", "put an empty line between sentences"
            error = error or InputError(what, path=path, line=number, hint=hint)
        if not line.strip() or is_comment:
            if error is not None:
                report(error)
            elif rows:
                yield _sentence(path, start, rows, format_, generator)
            rows, error = [], None
            match = _GENERATOR.match(line) if is_comment else None
            generator = match[1] if match else generator
            continue
        if error is not None:  # the rest of a bad sentence can be anything
            continue
        fields = _fields(line) if format_ is None else format_.split(line)
        if fault := _fault(fields, rows, format_):
            what, hint = fault
            error = InputError(what, path=path, line=number, hint=hint)
        elif _is_word(fields, format_):
            start = start if rows else number
            rows.append(fields)


def _fault(
    fields: Sequence[str], rows: Sequence[Sequence[str]], format_: _Numbered | None
) -> tuple[str, str] | None:
    """Return what is wrong with a line, and what to do about it; None if nothing is."""
    if format_ is not None:
        return _fault_of_numbered(fields, rows, format_)
    if not _is_word(fields, None):
        return None
    if len(fields) < 2:
        return "a word without a tag", "give a word and its tags a line, blanks between them"
    if rows and len(fields) != len(rows[0]):
        return f"{len(fields)} columns, {len(rows[0])} on the line before", "give each word all its tags"
    return None


def _fault_of_numbered(
    fields: Sequence[str], rows: Sequence[Sequence[str]], format_: _Numbered
) -> tuple[str, str] | None:
    least, most = format_.widths
    if len(fields) == 1 and least <= len(_fields(fields[0])) <= most:
        return "blanks between columns", f"{format_.title} has tabs"
    if not least <= len(fields) <= most:
        wanted = f"{least}" if least == most else f"{least} or more"
        return f"{len(fields)} columns, {format_.title} has {wanted}", "put tabs between columns"
    if rows and len(fields) != len(rows[0]):
        return f"{len(fields)} columns, {len(rows[0])} on the line before", "give each word all columns"
    if not fields[format_.form].strip():
        return "a word is missing", "give every token a form"
    number = fields[format_.id]
    match = _NUMBER.fullmatch(number)
    expected = len(rows) + format_.first - (match is not None and match[3] is not None)
    if match is None or int(match[1]) != expected or int(match[2] or expected) < expected:
        hint = "number the words of a sentence one by one, and put an empty line between sentences"
        return f"the id {number[:_SHOWN]!r} where {expected} is next", hint
    return None


def _is_word(fields: Sequence[str], format_: _Numbered | None) -> bool:
    """Whether a line is a word, not a multiword token or empty node of CoNLL-U, nor ``-DOCSTART-``."""
    return fields[0] != _DOCUMENT if format_ is None else fields[format_.id].isdecimal()


def _sentence(
    path: str | Path, line: int, rows: Sequence[Sequence[str]], format_: _Numbered | None, generator: str
) -> AnnotatedSentence:
    columns = list(zip(*rows, strict=True))
    if format_ is None:
        named = {str(i): column for i, column in enumerate(columns[1:], 2)}
        return AnnotatedSentence(columns[0], named, default=str(len(columns)), path=path, line=line)
    return AnnotatedSentence(
        words=columns[format_.form],
        columns={name: columns[i] for name, i in format_.tags.items()},
        default=next(iter(format_.tags)),
        path=path,
        line=line,
        dependencies=(columns[_HEAD], columns[_RELATION]) if format_ is _CONLL_U else None,
        generator=generator,
    )


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
