"""Base class of readers of XML treebanks: parses lines of XML to sentences, and rejects dangerous input.

Declarations of document types and entities, with which a small file can use up any amount of memory, are
rejected; treebanks need neither.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad
from spectralnlp.trees.readers.sentence_graph import GraphBuilder, SentenceGraph

_DECLARED = re.compile(r"""\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")


def declared_encoding(head: str) -> str | None:
    """Return the encoding that an XML declaration at the beginning of a file names; None if it names none."""
    found = _DECLARED.match(head)
    return None if found is None else found[1]


class XmlSentences(ABC):
    """Base class of parsers of one XML file; a subclass processes the elements of its format.

    Args:
        path: path of the file, for error messages.
        report: called with the error of each invalid sentence, which is skipped. If the XML is not
            well-formed, reading cannot continue, and the error is raised.

    Class attributes:
        format: name of the format, for error messages.
        outer: allowed names for the first element of a file.
    """

    format: str
    outer: frozenset[str]

    def __init__(self, path: str | Path | None, report: OnBad) -> None:
        from xml.parsers.expat import ParserCreate

        self.path, self.report = path, report
        self.finished: list[SentenceGraph] = []
        self.n_sentences = 0
        self.sentence: GraphBuilder | None = None  # None too in the rest of a bad one
        self._started = False
        self._parser = ParserCreate("utf-8")  # the lines are decoded, whatever the file says of its encoding
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = self._refuse
        self._parser.EntityDeclHandler = self._refuse

    @abstractmethod
    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Process a start tag, for example begin a sentence or add a node to the current sentence.

        Args:
            element: name of the element.
            attributes: attributes of the element.
        """

    @abstractmethod
    def end(self, element: str) -> SentenceGraph | None:
        """Process an end tag; return the sentence if the tag ends a sentence, else None."""

    @property
    def line(self) -> int:
        """Number of the line that is being parsed."""
        return self._parser.CurrentLineNumber

    @classmethod
    def parse(cls, lines: Iterable[str], path: str | Path | None, report: OnBad) -> Iterator[SentenceGraph]:
        """Yield the sentences in lines of XML; line ends may be missing.

        Args:
            lines: lines of the file.
            path, report: see the class.

        Raises:
            InputError: the lines are not well-formed XML, are of another format, or declare a document type
                or an entity.
        """
        return cls(path, report)._read(lines)

    def _read(self, lines: Iterable[str]) -> Iterator[SentenceGraph]:
        from xml.parsers.expat import ExpatError, errors

        number = 0
        try:
            for line in lines:
                number += 1
                self._parser.Parse(f"{line}\n".encode(), False)
                yield from self.finished
                self.finished.clear()
            self._parser.Parse(b"", True)
        except ExpatError as error:
            what = f"not well-formed XML: {errors.messages[error.code]}"
            hint = "the file may be cut short, or its markup damaged"
            line_number, sentence = min(error.lineno, number), self.n_sentences or None
            raise InputError(what, path=self.path, line=line_number, sentence=sentence, hint=hint) from None

    def begin_sentence(self) -> None:
        """Begin a new sentence, to which nodes are added until it ends."""
        self.n_sentences += 1
        self.sentence = GraphBuilder(self.path, self.n_sentences, self.line)

    def value(self, element: str, attributes: dict[str, str], *names: str) -> str:
        """Return the value of a required attribute of an element, which may have one of several names.

        Args:
            element: name of the element, for the error message.
            attributes: attributes of the element.
            names: names of the attribute; the first that the element has is used.

        Raises:
            InputError: the element has no attribute with any of the names.
        """
        for name in names:
            if name in attributes:
                return attributes[name]
        builder = self.sentence or GraphBuilder(self.path, self.n_sentences, self.line)
        raise builder.bad(f"<{element}> without {names[0]!r}", self.line, f"add {names[0]}=")

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        if not self._started and element not in self.outer:
            what, hint = f"an XML file of <{element}>, not {self.format}", f"{self.format} begins with "
            hint += " or ".join(f"<{name}>" for name in sorted(self.outer))
            raise InputError(what, path=self.path, line=self.line, hint=hint)
        self._started = True
        self._guarded(lambda: self.start(element, attributes))

    def _end(self, element: str) -> None:
        graph = self._guarded(lambda: self.end(element))
        if graph is not None:
            self.finished.append(graph)

    def _guarded(self, step: Callable[[], SentenceGraph | None]) -> SentenceGraph | None:
        try:
            return step()
        except InputError as error:
            self.sentence = None
            self.report(error)
            return None

    def _refuse(self, *_: object) -> None:
        what = "a document type or an entity is declared"
        hint = f"remove the declaration: {self.format} has none, and entities can fill any memory"
        raise InputError(what, path=self.path, line=self.line, hint=hint)
