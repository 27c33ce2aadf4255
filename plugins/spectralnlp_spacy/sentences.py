"""Sentences of spaCy documents: their boundaries, their words, and the input of a model."""

from __future__ import annotations

from typing import NamedTuple

from spacy.tokens import Doc

from spectralnlp.text.conventions import Conventions
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence

Bounds = list[tuple[int, int]]


class DocSentences(NamedTuple):
    """Sentences of a document, as a model reads them.

    Args:
        doc: the document.
        bounds: range of tokens of each sentence, the end exclusive.
        words: for each sentence that has words, the token indices of its words (not white space).
        inputs: for each item of ``words``, the words in the spelling of the model's training data, and their
            tags if these are wanted and there are any.
    """

    doc: Doc
    bounds: Bounds
    words: list[list[int]]
    inputs: list[Sentence]


def read_sentences(
    doc: Doc, bounds: Bounds, conventions: Conventions, with_tags: bool = False
) -> DocSentences:
    """Return the sentences of a document for a model.

    Args:
        doc: the document.
        bounds: range of tokens of each sentence.
        conventions: spelling conventions of the model's training data.
        with_tags: whether ``token.tag_`` is part of the input.
    """
    read = DocSentences(doc, bounds, [], [])
    for start, end in bounds:
        words = words_of(doc, start, end)
        if words:
            texts = [doc[i].text for i in words]
            tags = [doc[i].tag_ for i in words] if with_tags else []
            read.words.append(words)
            read.inputs.append(
                Sentence.from_words(texts, tags if any(tags) else None, conventions.forms(texts))
            )
    return read


def words_of(doc: Doc, start: int = 0, end: int | None = None) -> list[int]:
    """Return the indices of the tokens from ``start`` to ``end`` that are words, not white space."""
    return [i for i in range(start, len(doc) if end is None else end) if not doc[i].is_space]


def sentence_bounds(doc: Doc) -> Bounds:
    """Return the token range of each sentence, end exclusive; without boundaries, all is one sentence."""
    if not len(doc):
        return []
    if not doc.has_annotation("SENT_START"):
        return [(0, len(doc))]
    return [(sentence.start, sentence.end) for sentence in doc.sents]


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
