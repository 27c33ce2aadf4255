"""Base class of the parser and the tagger, which read documents sentence by sentence."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc

from spectralnlp.text.conventions import Conventions
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp_spacy.component import SpectralPipe
from spectralnlp_spacy.errors import Warnings
from spectralnlp_spacy.sentences import (
    Bounds,
    DocSentences,
    find_sentences,
    read_sentences,
    sentence_bounds,
)


class SentencePipe(SpectralPipe):
    """Base class of the parser and the tagger, the components that process each sentence on its own.

    Attributes:
        split_sentences: whether to split documents without sentence boundaries; otherwise each is one
            sentence.
    """

    split_sentences: bool = True
    _warned: bool = False

    def read(self, docs: Sequence[Doc], with_tags: bool = False) -> list[DocSentences]:
        """Return the sentences of documents as the model reads them, with ``token.tag_`` if wanted."""
        conventions = self.conventions()
        return [read_sentences(doc, self._bounds(doc), conventions, with_tags) for doc in docs]

    def conventions(self) -> Conventions:
        """Return the spelling conventions of the model's training data, such as how brackets are written."""
        return getattr(self.ready(), "conventions", None) or Conventions()

    def _bounds(self, doc: Doc) -> Bounds:
        """Return the token range of each sentence; split the text if the document has no boundaries."""
        if not doc.has_annotation("SENT_START"):
            if not self._warned:
                self._warned = True
                warnings.warn(Warnings.SW001.format(name=self.name), stacklevel=2)
            if self.split_sentences:
                return find_sentences(doc, self._tokenizer())
        return sentence_bounds(doc)

    def _tokenizer(self) -> Tokenizer:
        tokenizer: Any = getattr(self.ready(), "tokenizer", None)
        return tokenizer or Tokenizer(self.conventions())
