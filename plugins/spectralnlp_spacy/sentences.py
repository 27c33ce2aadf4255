"""Base class of the parser and the tagger: splits documents into sentences, and normalises spelling."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from spacy.tokens import Doc

from spectralnlp.text.conventions import Conventions
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp_spacy.component import SpectralPipe
from spectralnlp_spacy.constituents import sentence_bounds
from spectralnlp_spacy.errors import Warnings

Bounds = list[tuple[int, int]]


class SentencePipe(SpectralPipe):
    """Base class of the parser and the tagger, the components that process each sentence on its own.

    Attributes:
        split_sentences: whether to split documents without sentence boundaries; otherwise each is one
            sentence.
    """

    split_sentences: bool = True
    _warned: bool = False

    @property
    def conventions(self) -> Conventions:
        """Spelling conventions of the model's training data, such as how brackets are written."""
        return getattr(self.ready(), "conventions", None) or Conventions()

    def bounds(self, doc: Doc) -> Bounds:
        """Return the token range of each sentence; split the text if the document has no boundaries."""
        if doc.has_annotation("SENT_START"):
            return sentence_bounds(doc)
        if not self._warned:
            self._warned = True
            warnings.warn(Warnings.SW001.format(name=self.name), stacklevel=2)
        return find_sentences(doc, self._tokenizer()) if self.split_sentences else sentence_bounds(doc)

    def forms(self, doc: Doc, words: Sequence[int]) -> list[str]:
        """Return words of a document in the spelling of the model's training data."""
        return self.conventions.forms([doc[i].text for i in words])

    def _tokenizer(self) -> Tokenizer:
        tokenizer: Any = getattr(self.ready(), "tokenizer", None)
        return tokenizer or Tokenizer(self.conventions)


def set_boundaries(doc: Doc, bounds: Bounds) -> None:
    """Set sentence boundaries in a document that has none."""
    if not doc.has_annotation("SENT_START"):
        starts = {start for start, _ in bounds}
        for token in doc:
            token.is_sent_start = token.i in starts


def find_sentences(doc: Doc, tokenizer: Tokenizer) -> Bounds:
    """Split a document into sentences; return the range of tokens of each, the end exclusive.

    ``tokenizer`` finds the sentences in the text; a boundary within a token is moved to the next token.
    """
    sentences = split_sentences(doc.text.splitlines(keepends=True), tokenizer)
    starts = [0]
    token = 0
    for offset in sorted(sentence.start for sentence in sentences):
        while token < len(doc) and doc[token].idx < offset:
            token += 1
        if starts[-1] < token < len(doc):
            starts.append(token)
    return list(zip(starts, [*starts[1:], len(doc)], strict=True))
