"""Reader for TigerXML: words and phrases are elements, and edges between them may cross.

    <corpus id="sample"><body>
      <s id="s1"><graph root="s1_500">
        <terminals><t id="s1_1" word="Boote" pos="NN"/> <t id="s1_2" word="sinken" pos="VVFIN"/></terminals>
        <nonterminals><nt id="s1_500" cat="S"><edge label="SB" idref="s1_1"/> …</nt></nonterminals>
      </graph></s>
    </body></corpus>

Source: W. Lezius, H. Biesinger and C. Gerstenberger (2002), TIGER-XML quick reference guide, IMS Stuttgart
(https://www.ims.uni-stuttgart.de/documents/ressourcen/werkzeuge/tigersearch/doc/html/TigerXML.html).

Secondary edges (``secedge``) and ``matches`` are ignored.
"""

from __future__ import annotations

import re

from spectralnlp.errors import InputError
from spectralnlp.trees.readers.graph_reader import GraphReader
from spectralnlp.trees.readers.sentence_graph import GraphBuilder, SentenceGraph
from spectralnlp.trees.readers.xml_sentences import XmlSentences, declared_encoding


class _TigerXml(XmlSentences):
    """Parser of TigerXML elements."""

    format = "TigerXML"
    outer = frozenset(["corpus", "subcorpus", "body", "s"])
    root: str | None = None  # of the open sentence
    phrase = ""

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Process a start tag: begin a sentence, or add a node or edge to the current sentence."""
        if element == "subcorpus" and "external" in attributes:
            what = f"a part of the corpus is in another file, {attributes['external']}"
            raise InputError(what, path=self.path, line=self.line, hint="give that file itself")
        if element == "s":
            self.begin_sentence()
            self.root, self.phrase = None, ""
        elif self.sentence is not None:
            self.add(self.sentence, element, attributes)

    def add(self, sentence: GraphBuilder, element: str, attributes: dict[str, str]) -> None:
        """Add the word, phrase or edge that an element describes to a sentence, or note the root."""
        if element == "graph":
            self.root = self.value(element, attributes, "root")
        elif element == "t":
            name, word, tag = (self.value(element, attributes, each) for each in ("id", "word", "pos"))
            sentence.add_word(name, word, tag, self.line)
        elif element == "nt":
            self.phrase = self.value(element, attributes, "id")
            sentence.add_phrase(self.phrase, self.value(element, attributes, "cat"), self.line)
        elif element == "edge":
            below = self.value(element, attributes, "idref")
            sentence.hang(below, self.phrase, attributes.get("label", ""), self.line)

    def end(self, element: str) -> SentenceGraph | None:
        """Process an end tag; return the sentence if the tag ends a sentence, else None."""
        if element != "s" or self.sentence is None:
            return None
        sentence, self.sentence = self.sentence, None
        if self.root is None:
            raise sentence.bad("a sentence without a graph", sentence.line, "remove it")
        if self.root not in sentence.lines:
            raise sentence.bad(f"the root, {self.root}, is missing", sentence.line, "add it")
        return sentence.build(self.root)


def _looks_like_tiger_xml(head: str) -> bool:
    return re.match(r"(?:\xef\xbb\xbf)?\s*<(?:\?xml|(?:!DOCTYPE\s+)?corpus)\b", head) is not None


TIGER_XML = GraphReader("utf-8", _looks_like_tiger_xml, _TigerXml.parse, declared_encoding)
