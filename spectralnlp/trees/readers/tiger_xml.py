"""TigerXML: words and phrases as elements, crossing branches as edges.

    <corpus id="sample"><body>
      <s id="s1"><graph root="s1_500">
        <terminals><t id="s1_1" word="Boote" pos="NN"/> <t id="s1_2" word="sinken" pos="VVFIN"/></terminals>
        <nonterminals><nt id="s1_500" cat="S"><edge label="SB" idref="s1_1"/> …</nt></nonterminals>
      </graph></s>
    </body></corpus>

Source: W. Lezius, H. Biesinger and C. Gerstenberger (2002), TIGER-XML quick reference guide, IMS Stuttgart
(https://www.ims.uni-stuttgart.de/documents/ressourcen/werkzeuge/tigersearch/doc/html/TigerXML.html).

Secondary edges (``secedge``) and matches are passed over. Document types and entities, with which a small
file can ask for any amount of memory, are refused: the format has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad
from spectralnlp.trees.readers.graph_reader import GraphReader
from spectralnlp.trees.readers.sentence_graph import GraphBuilder, SentenceGraph

if TYPE_CHECKING:
    from xml.parsers.expat import XMLParserType

_OUTER = frozenset(["corpus", "subcorpus", "body", "s"])
_DECLARED = re.compile(r"""\s*<\?xml[^>]*\bencoding\s*=\s*["']([A-Za-z][\w.-]*)["']""")


def read_tiger_xml(lines: Iterable[str], path: str | Path | None, report: OnBad) -> Iterator[SentenceGraph]:
    """Read the sentences of a TigerXML file.

    Args:
        lines: of the file, decoded, without their ends.
        path: the file named in errors.
        report: called with the error of each bad sentence, which is then left out. Where the XML itself is
            bad, nothing can follow, and the error is raised.

    Raises:
        InputError: this is not well-formed XML or not TigerXML; it declares a document type or an entity.
    """
    from xml.parsers.expat import ExpatError, ParserCreate, errors

    parser = ParserCreate("utf-8")  # the lines are decoded, whatever the file says of its encoding
    handlers = _Handlers(parser, path, report)
    number = 0
    try:
        for line in lines:
            number += 1
            parser.Parse(f"{line}\n".encode(), False)
            yield from handlers.finished
            handlers.finished.clear()
        parser.Parse(b"", True)
    except ExpatError as error:
        what = f"not well-formed XML: {errors.messages[error.code]}"
        hint = "the file may be cut short, or its markup damaged"
        line_number, sentence = min(error.lineno, number), handlers.n_sentences or None
        raise InputError(what, path=path, line=line_number, sentence=sentence, hint=hint) from None


class _Handlers:
    """The meaning of elements."""

    def __init__(self, parser: XMLParserType, path: str | Path | None, report: OnBad) -> None:
        self.parser, self.path, self.report = parser, path, report
        self.finished: list[SentenceGraph] = []
        self.n_sentences = 0
        self.started = False
        self.sentence: GraphBuilder | None = None  # None too in the rest of a bad one
        self.root: str | None = None
        self.phrase = ""
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.StartDoctypeDeclHandler = self.refuse
        parser.EntityDeclHandler = self.refuse

    def start(self, element: str, given: dict[str, str]) -> None:
        """Take in the beginning of an element."""
        line = self.parser.CurrentLineNumber
        if not self.started and element not in _OUTER:
            what, hint = f"an XML file of <{element}>, not TigerXML", "TigerXML begins with <corpus>"
            raise InputError(what, path=self.path, line=line, hint=hint)
        self.started = True
        if element == "subcorpus" and "external" in given:
            what = f"a part of the corpus is in another file, {given['external']}"
            raise InputError(what, path=self.path, line=line, hint="give that file itself")
        if element == "s":
            self.n_sentences += 1
            self.sentence, self.root, self.phrase = GraphBuilder(self.path, self.n_sentences, line), None, ""
        elif self.sentence is not None:
            try:
                self.add(self.sentence, element, given, line)
            except InputError as error:
                self.sentence = None
                self.report(error)

    def add(self, sentence: GraphBuilder, element: str, given: dict[str, str], line: int) -> None:
        """Take in an element of a sentence."""

        def value(name: str) -> str:
            if name not in given:
                raise sentence.bad(f"<{element}> without {name!r}", line, f"add {name}=")
            return given[name]

        if element == "graph":
            self.root = value("root")
        elif element == "t":
            sentence.add_word(value("id"), value("word"), value("pos"), line)
        elif element == "nt":
            self.phrase = value("id")
            sentence.add_phrase(self.phrase, value("cat"), line)
        elif element == "edge":
            sentence.hang(value("idref"), self.phrase, given.get("label", ""), line)

    def end(self, element: str) -> None:
        """Take in the end of an element."""
        if element != "s" or self.sentence is None:
            return
        sentence, self.sentence = self.sentence, None
        try:
            if self.root is None:
                raise sentence.bad("a sentence without a graph", sentence.line, "remove it")
            if self.root not in sentence.lines:
                raise sentence.bad(f"the root, {self.root}, is missing", sentence.line, "add it")
            self.finished.append(sentence.build(self.root))
        except InputError as error:
            self.report(error)

    def refuse(self, *_: object) -> None:
        """Refuse a document type or an entity."""
        what = "a document type or an entity is declared"
        hint = "remove the declaration: TigerXML has none, and entities can fill any memory"
        raise InputError(what, path=self.path, line=self.parser.CurrentLineNumber, hint=hint)


def declared_encoding(head: str) -> str | None:
    """The encoding that an XML declaration names."""
    found = _DECLARED.match(head)
    return None if found is None else found[1]


def _looks_like_tiger_xml(head: str) -> bool:
    return re.match(r"(?:\xef\xbb\xbf)?\s*<(?:\?xml|(?:!DOCTYPE\s+)?corpus)\b", head) is not None


TIGER_XML = GraphReader("utf-8", _looks_like_tiger_xml, read_tiger_xml, declared_encoding)
