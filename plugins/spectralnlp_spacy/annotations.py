"""Annotations for the parser from spaCy documents: tags and dependency parses of earlier components."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD, TAG
from spacy.tokens import Doc

from spectralnlp.text.annotations import ROOT, Annotations
from spectralnlp_spacy.sentences import DocSentences


def annotations_of(read: DocSentences) -> list[Annotations] | None:
    """Return the annotations of each sentence of a document.

    A word whose head is in no or in another sentence becomes a root; white space between a word and its head
    is passed over.

    Args:
        read: the sentences.

    Returns:
        The annotations in the order of ``read.words``; None if the document has no dependency parse, or a
        word lacks a tag or a relation.

    Raises:
        InputError: heads form a cycle.
    """
    doc = read.doc
    if not (doc.has_annotation("DEP") and doc.has_annotation("TAG")):
        return None
    offsets, labels, tags = doc.to_array([HEAD, DEP, TAG]).T
    heads = _heads_of_words(doc, offsets.astype(np.int64) + np.arange(len(doc)))
    name, place = doc.vocab.strings, np.full(len(doc), ROOT, np.int64)
    found = []
    for words in read.words:
        if not (labels[words].all() and tags[words].all()):
            return None
        place[words] = np.arange(len(words))
        above = np.where(heads[words] == words, ROOT, place[heads[words]])
        place[words] = ROOT  # for words of other sentences
        found.append(
            Annotations(
                above.tolist(), [name[each] for each in labels[words]], [name[each] for each in tags[words]]
            )
        )
    return found


def _heads_of_words(doc: Doc, heads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the index of each token's head, int64 (n_tokens,), after passing over heads of white space."""
    for space in (token.i for token in doc if token.is_space):
        heads[heads == space] = heads[space]
    return heads
