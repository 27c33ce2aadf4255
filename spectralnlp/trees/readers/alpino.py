"""Reader for Alpino XML, the format of Dutch treebanks such as Alpino and Lassy: sentences as nested nodes.

    <alpino_ds version="1.3">
      <node begin="0" cat="top" end="4" id="0" rel="top">
        <node begin="0" cat="smain" end="3" id="1" rel="--">
          <node begin="0" cat="np" end="1" id="2" index="1" rel="su">…</node>
          <node begin="1" end="2" id="4" pos="verb" rel="hd" word="wil"/>
          <node begin="0" cat="inf" end="3" id="5" rel="vc">
            <node begin="0" end="1" id="6" index="1" rel="su"/> …

Source: G. van Noord, I. Schuurman and V. Vandeghinste (2006), Syntactic annotation of large corpora in
STEVIN, LREC; the document type of the treebank (https://www.let.rug.nl/vannoord/alp/Alpino/adt.html).

- A node that has an ``index``, but neither a word nor children, refers to another node. It is removed as an
  empty element, together with phrases that contain nothing else.
- Words are ordered by ``begin``, not as in the file. Phrases may therefore be discontinuous; `raising` makes
  them continuous.
- The tag of a word is its ``pos`` or, without one, its ``pt``. Fixed expressions (``mwu``) remain phrases.
- Children of ``top``, mostly punctuation, are attached to phrases; ``top`` remains the label of the root.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from spectralnlp.trees.readers.graph_reader import GraphReader
from spectralnlp.trees.readers.sentence_graph import GraphBuilder, SentenceGraph
from spectralnlp.trees.readers.xml_sentences import XmlSentences, declared_encoding

_ROOT = "top"


@dataclass
class _Node:
    """Node of a sentence that is being read from an Alpino file.

    Args:
        attributes: attributes of the XML element.
        line: line number at which the element begins.
        above: parent node; None for the root.
        parts: number of child nodes.
        full: whether the node dominates a word.
    """

    attributes: dict[str, str]
    line: int
    above: _Node | None
    parts: int = 0
    full: bool = False

    @property
    def name(self) -> str:
        """Identifier of the node, unique within the sentence."""
        return self.attributes["id"]


class _AlpinoXml(XmlSentences):
    """Parser of Alpino XML elements."""

    format = "Alpino's XML"
    outer = frozenset(["alpino_ds", "treebank"])
    nodes: list[_Node]  # of the open sentence
    open: _Node | None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        """Process a start tag: begin a sentence, or add a node to the current sentence."""
        if element == "alpino_ds":
            self.begin_sentence()
            self.nodes, self.open = [], None
        elif element == "node" and self.sentence is not None:
            self.value(element, attributes, "id")
            if self.open is None and self.nodes:
                raise self.sentence.bad("a second root", self.line, "give each sentence an <alpino_ds>")
            if self.open is not None:
                self.open.parts += 1
            self.open = _Node(attributes, self.line, self.open)
            self.nodes.append(self.open)

    def end(self, element: str) -> SentenceGraph | None:
        """Process an end tag; return the sentence if the tag ends a sentence, else None."""
        if self.sentence is None:
            return None
        if element == "node" and self.open is not None:
            self.open = self.open.above
        if element != "alpino_ds":
            return None
        sentence, self.sentence = self.sentence, None
        return self.graph(sentence)

    def graph(self, sentence: GraphBuilder) -> SentenceGraph:
        """Return the graph of the current sentence, without nodes that dominate no word.

        Args:
            sentence: builder of the graph, still without nodes.

        Raises:
            InputError: the nodes do not form a tree over words.
        """
        words = [node for node in self.nodes if "word" in node.attributes]
        for word in words:
            above: _Node | None = word
            while above is not None and not above.full:
                above.full, above = True, above.above
        for node in self.nodes:
            leaf = not node.parts
            if leaf != (node in words) and not (leaf and "index" in node.attributes):
                what = f"node {node.name} has {'neither word nor' if leaf else 'a word and'} parts"
                raise sentence.bad(what, node.line, "give a word a node of its own")
        for word in sorted(words, key=lambda node: _position(node, sentence)):
            tag = self.value("node", word.attributes, "pos", "pt")
            sentence.add_word(word.name, word.attributes["word"], tag, word.line)
        for node in self.nodes[1:]:
            if node.full and node.parts:
                sentence.add_phrase(node.name, self.value("node", node.attributes, "cat"), node.line)
            if node.full and node.above is not None:
                sentence.hang(node.name, node.above.name, node.attributes.get("rel", ""), node.line)
        root = self.nodes[0] if self.nodes and self.nodes[0].parts else None
        graph = sentence.build("" if root is None else root.name)
        label = _ROOT if root is None else root.attributes.get("cat", _ROOT)
        return replace(graph, root=label, empty=sum(not node.full and not node.parts for node in self.nodes))


def _position(node: _Node, sentence: GraphBuilder) -> int:
    begin = node.attributes.get("begin", "")
    if not (begin.isdecimal() and len(begin) < 10):
        raise sentence.bad(f"{begin!r} is no position of a word", node.line, "give its number in begin=")
    return int(begin)


def _looks_like_alpino(head: str) -> bool:
    beginning = r"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:alpino_ds|treebank)\b"
    return re.match(beginning, head, re.DOTALL) is not None


ALPINO = GraphReader("utf-8", _looks_like_alpino, _AlpinoXml.parse, declared_encoding)
