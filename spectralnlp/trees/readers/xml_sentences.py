"""What readers of XML share: lines go to a parser that gives sentences and refuses what is dangerous.

Document types and entities, with which a small file can ask for any amount of memory, are refused: treebanks
need none.
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
    """The encoding that an XML declaration names."""
    found = _DECLARED.match(head)
    return None if found is None else found[1]


class XmlSentences(ABC):
    """Reads sentences of one XML file; a subclass says what its elements mean.

    Args:
        path: the file named in errors.
        report: called with the error of each bad sentence, which is then left out. Where the XML itself is
            bad, nothing can follow, and the error is raised.

    Class attributes:
        format: name of the format, for errors.
        outer: elements with which a file may begin.
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
    def start(self, element: str, given: dict[str, str]) -> None:
        """Take in the beginning of an element and its attributes."""

    @abstractmethod
    def end(self, element: str) -> SentenceGraph | None:
        """Take in the end of an element; return the sentence that it ends, if it does."""

    @property
    def line(self) -> int:
        """Number of the line that is being read."""
        return self._parser.CurrentLineNumber

    def read(self, lines: Iterable[str]) -> Iterator[SentenceGraph]:
        """Read the sentences in lines of text, which may lack their ends.

        Raises:
            InputError: this is not well-formed XML, or not of this format; it declares a document type or an
                entity.
        """
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
        """Open the next sentence."""
        self.n_sentences += 1
        self.sentence = GraphBuilder(self.path, self.n_sentences, self.line)

    def value(self, element: str, given: dict[str, str], *names: str) -> str:
        """Return the first of these attributes that an element has.

        Raises:
            InputError: it has none.
        """
        for name in names:
            if name in given:
                return given[name]
        builder = self.sentence or GraphBuilder(self.path, self.n_sentences, self.line)
        raise builder.bad(f"<{element}> without {names[0]!r}", self.line, f"add {names[0]}=")

    def _start(self, element: str, given: dict[str, str]) -> None:
        if not self._started and element not in self.outer:
            what, hint = f"an XML file of <{element}>, not {self.format}", f"{self.format} begins with "
            hint += " or ".join(f"<{name}>" for name in sorted(self.outer))
            raise InputError(what, path=self.path, line=self.line, hint=hint)
        self._started = True
        self._guarded(lambda: self.start(element, given))

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
