"""Make ``doc.noun_chunks`` the base noun phrases of the trees, unless another parser set dependencies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

from spacy.tokens import Doc, Span

from spectralnlp_spacy.constituents import has_dependencies, read_brackets, read_tags

# Function that yields first token, end and label id of each noun chunk of a document or span.
NounChunks: TypeAlias = Callable[[Any], Iterator[tuple[int, int, int]]]

_NOUN_PHRASES = frozenset(["NP", "NX", "WHNP"])
_POSSESSIVE = "POS"


def of_trees(usual: NounChunks | None, key: str) -> NounChunks:
    """Return a function that yields the noun chunks of trees, or the usual ones of a document without trees.

    Args:
        usual: function of a vocabulary or a document, which may be a result of this function; None if there
            is none.
        key: key of the constituents in ``doc.spans``.
    """
    if isinstance(usual, partial) and usual.func is noun_chunks:  # set by another parser in the pipeline
        usual = usual.keywords["usual"]
    return partial(noun_chunks, key=key, usual=usual)


def noun_chunks(doclike: Doc | Span, *, key: str, usual: NounChunks | None) -> Iterator[tuple[int, int, int]]:
    """Yield the base noun phrases: those that contain no other noun phrases except possessives.

    Args:
        doclike: a document or a span.
        key: key of the constituents in ``doc.spans``.
        usual: spaCy's function of noun chunks for the language, used for documents without constituents or
            with dependencies that another component set; None if spaCy has no such function.
    """
    doc = doclike if isinstance(doclike, Doc) else doclike.doc
    parsed_by_others = doc.has_annotation("DEP") and not has_dependencies(doc, key)
    if key not in doc.spans or (usual is not None and parsed_by_others):
        yield from usual(doclike) if usual is not None else ()
        return
    start, end = (0, len(doc)) if isinstance(doclike, Doc) else (doclike.start, doclike.end)
    label = doc.vocab.strings.add("NP")
    for first, last in base_noun_phrases(doc, key, start, end):
        yield first, last, label


def base_noun_phrases(doc: Doc, key: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the token range, end exclusive, of each base noun phrase between two tokens, left to right.

    Raises:
        ComponentError: the document has no constituents.
    """
    tags = read_tags(doc, key, start, end)
    phrases = dict.fromkeys(
        (each.start, each.end)
        for each in read_brackets(doc, key, start, end)
        if each.label.partition("-")[0] in _NOUN_PHRASES
    )
    parents: dict[tuple[int, int], tuple[int, int] | None] = {}
    opened: list[tuple[int, int]] = []
    for phrase in phrases:  # parents first
        while opened and opened[-1][1] <= phrase[0]:
            opened.pop()
        parents[phrase] = opened[-1] if opened else None
        opened.append(phrase)
    is_base = dict.fromkeys(phrases, True)
    for phrase in reversed(phrases):  # children first
        parent = parents[phrase]
        if parent is not None and not (is_base[phrase] and tags[phrase[1] - 1 - start] == _POSSESSIVE):
            is_base[parent] = False
    return [each for each in phrases if is_base[each] and not is_base.get(parents[each] or (0, 0), False)]
