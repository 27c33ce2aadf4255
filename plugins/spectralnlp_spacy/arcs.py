"""Write the dependencies of parsed sentences to spaCy documents (``token.head`` and ``token.dep_``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from spacy.attrs import DEP, HEAD
from spacy.tokens import Doc

from spectralnlp import registry
from spectralnlp_spacy.sentences import Bounds

if TYPE_CHECKING:
    from spectralnlp.trees.parse import Parse


class Arcs(NamedTuple):
    """Dependency arcs of a document: head and relation of each token.

    Args:
        heads: index of each token's head; a root is its own head.
        relations: relation of each token to its head.
    """

    heads: list[int]
    relations: list[str]

    @classmethod
    def of(cls, doc: Doc, words: Sequence[Sequence[int]], parses: Sequence[Parse]) -> Arcs:
        """Return the arcs of a document, from the parses of its sentences; white space has none.

        Args:
            doc: the document.
            words: for each sentence, the indices of its words among the tokens of the document.
            parses: parse of each sentence.
        """
        arcs = cls(list(range(len(doc))), ["ROOT"] * len(doc))
        tools = registry.tree_tools.get("dependencies")
        for sentence, parse in zip(words, parses, strict=True):
            found = tools.parse_dependencies(parse)
            for token, head, relation in zip(sentence, found.heads, found.relations, strict=True):
                if head >= 0:
                    arcs.heads[token], arcs.relations[token] = sentence[head], relation
        return arcs

    def write(self, doc: Doc, bounds: Bounds) -> bool:
        """Write heads and relations to a document, unless it has a dependency parse already.

        A white-space token depends on the token before it, or on the root if it starts the sentence.

        Args:
            doc: document to write to.
            bounds: start and end of each sentence, as token indices.

        Returns:
            Whether heads and relations were written.
        """
        if doc.has_annotation("DEP") or not len(doc):
            return False
        for start, end in bounds:
            self._attach_white_space(doc, start, end)
        offsets = np.array(self.heads, np.int32) - np.arange(len(doc), dtype=np.int32)
        names = [doc.vocab.strings.add(relation) for relation in self.relations]
        columns = [offsets.astype(np.uint64), np.array(names, np.uint64)]
        doc.from_array([HEAD, DEP], np.stack(columns, axis=1))
        return True

    def _attach_white_space(self, doc: Doc, start: int, end: int) -> None:
        roots = [i for i in range(start, end) if self.heads[i] == i and not doc[i].is_space]
        for i in range(start, end):
            if doc[i].is_space and (i > start or roots):
                self.heads[i], self.relations[i] = (i - 1 if i > start else roots[0]), "dep"
