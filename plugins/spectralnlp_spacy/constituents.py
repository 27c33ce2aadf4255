"""Store constituents in ``doc.spans``, read them, and convert them back to trees.

``doc.spans["constituents"]`` has one labelled span per constituent, sentence after sentence, parents before
children; the spans of a unary chain are adjacent, the topmost first. The first span of each sentence covers
the whole sentence. White space is not a word: spans begin and end at words, and may contain white space.
Further values are in ``doc.spans["constituents"].attrs``, which are saved with the document:

- ``posteriors``: list of the posterior of each span;
- ``tags``: list of the tag in the tree for each token of the document, empty for white space;
- ``fallbacks``: list of [first token, reason] for each sentence whose tree is not the grammar's best;
- ``dependencies``: whether the parser set the document's heads and relations from the trees.

If tokens are merged or split (``doc.retokenize``), spaCy does not update ``doc.spans``. The
spans are then repaired when they are next read: constituents keep their character ranges, and those that no
longer begin and end at tokens are dropped.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

import srsly
from spacy.tokens import Doc, Span, SpanGroup

from spectralnlp.trees import Tree
from spectralnlp_spacy.errors import ComponentError, Errors
from spectralnlp_spacy.sentences import sentence_bounds, words_of

KEY = "constituents"
POSTERIORS, TAGS, FALLBACKS, DEPENDENCIES = "posteriors", "tags", "fallbacks", "dependencies"
_SPAN = ">QQQllll"  # a span in SpanGroup.to_bytes: ids, label, first token, end, first character, end
T = TypeVar("T")


class Bracket(NamedTuple):
    """Constituent: a label over a range of tokens or words, with its posterior probability.

    Args:
        label: label of the constituent.
        start, end: range, ``end`` exclusive.
        posterior: posterior probability, from 0 to 1; None if it is unknown.
    """

    label: str
    start: int
    end: int
    posterior: float | None = None


class Chain(NamedTuple):
    """Unary chain: all constituents over one range of tokens, or a single word that is no constituent.

    Args:
        start, end: range of tokens of the document, ``end`` exclusive.
        brackets: constituents, the topmost first; empty for a word that is not itself a constituent.
    """

    start: int
    end: int
    brackets: tuple[Bracket, ...]


def write_constituents(
    doc: Doc,
    key: str,
    brackets: Sequence[Bracket],
    tags: Sequence[str],
    fallbacks: Sequence[tuple[int, str]] = (),
    dependencies: bool = False,
) -> None:
    """Write constituents to ``doc.spans[key]``.

    Args:
        doc: the document.
        key: key in ``doc.spans``, whose content is replaced.
        brackets: constituents over tokens of the document, in the order that the module docstring describes.
        tags: for each token, its tag in the tree; empty for white space.
        fallbacks: for each sentence with a fallback tree, its first token and the reason.
        dependencies: whether the document's heads and relations were set from the trees.
    """
    add = doc.vocab.strings.add
    spans = [Span(doc, start, end, label=add(label)) for label, start, end, _ in brackets]
    attrs = {
        POSTERIORS: [each.posterior for each in brackets],
        TAGS: list(tags),
        FALLBACKS: [[start, reason] for start, reason in fallbacks],
        DEPENDENCIES: dependencies,
    }
    doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs=attrs)


def read_brackets(doc: Doc, key: str, start: int = 0, end: int | None = None) -> list[Bracket]:
    """Return the constituents within a range of tokens, parents first.

    In a unary chain the topmost comes first.

    Raises:
        ComponentError: the document has no constituents.
    """
    group = _group(doc, key)
    if group is None:
        raise ComponentError(Errors.SN010.format(key=key))
    end = len(doc) if end is None else end
    posteriors: Sequence[float | None] = group.attrs.get(POSTERIORS, ())
    if len(posteriors) == len(group):  # unchanged since `write_constituents`, so in order
        spans: Sequence[Span] = group
        first = bisect_left(range(len(group)), start, key=lambda number: group[number].start)
    else:  # set by a user, or by Doc.from_docs, which drops attributes
        spans, posteriors = sorted(group, key=lambda span: (span.start, -span.end)), [None] * len(group)
        first = 0
    brackets: list[Bracket] = []
    for number in range(first, len(spans)):
        span = spans[number]
        if not _is_in_place(span):
            _repair(doc, key)
            return read_brackets(doc, key, start, end)
        if span.start >= end:
            break
        if start <= span.start and span.end <= end:
            brackets.append(Bracket(span.label_, span.start, span.end, posteriors[number]))
    return brackets


def read_tags(doc: Doc, key: str, start: int, end: int) -> list[str]:
    """Return the tag of each token in a range: ``token.tag_`` or, if this is empty, the tag in the tree."""
    group = _group(doc, key)
    tags: Sequence[str] = group.attrs.get(TAGS, ()) if group is not None else ()
    tags = tags if len(tags) == len(doc) else [""] * len(doc)
    return [doc[i].tag_ or tags[i] for i in range(start, end)]


def read_fallback(span: Span, key: str) -> str | None:
    """Return why a sentence has a fallback tree; None if its tree is the best one of the grammar.

    Args:
        span: a span in the sentence.
        key: key of the constituents in ``doc.spans``.
    """
    group = _group(span.doc, key)
    if group is None:
        return None
    sentence = span.sent
    fallbacks = group.attrs.get(FALLBACKS, ())
    return next((why for first, why in fallbacks if sentence.start <= first < sentence.end), None)


def _group(doc: Doc, key: str) -> SpanGroup | None:
    """Return the group of constituents ``doc.spans[key]``, or None if the document has no such group.

    If tokens were merged or split since the group was written, its spans are repaired first.
    """
    if key not in doc.spans:
        return None
    group: SpanGroup = doc.spans[key]
    try:
        in_place = (
            len(group.attrs[TAGS]) == len(doc) if TAGS in group.attrs else all(map(_is_in_place, group))
        )
    except IndexError:  # raised by spaCy if a span ends beyond the document
        in_place = False
    return group if in_place else _repair(doc, key)


def _is_in_place(span: Span) -> bool:
    """Return whether a span's character offsets still match its tokens; retokenisation may shift tokens."""
    first, last = span.doc[span.start], span.doc[span.end - 1]
    return bool(span.start_char == first.idx and span.end_char == last.idx + len(last))


def _repair(doc: Doc, key: str) -> SpanGroup:
    """Recompute the token ranges of the spans in ``doc.spans[key]`` after tokens were merged or split.

    Each constituent keeps its range of characters; it is dropped if it now begins or ends within a token.

    Returns:
        The new group of spans, which replaces the old one in ``doc.spans``.
    """
    group: SpanGroup = doc.spans[key]
    starts = {token.idx: token.i for token in doc}
    ends = {token.idx + len(token): token.i + 1 for token in doc}
    # Spans that end beyond the document cannot be read from the group itself.
    stored = [struct.unpack(_SPAN, each)[2:] for each in srsly.msgpack_loads(group.to_bytes())["spans"]]
    posteriors = group.attrs.get(POSTERIORS, ())
    if len(posteriors) != len(stored):
        posteriors = [None] * len(stored)
    brackets = [
        Bracket(doc.vocab.strings[label], starts[first], ends[last], posterior)
        for (label, _, _, first, last), posterior in zip(stored, posteriors, strict=True)
        if first in starts and last in ends
    ]
    firsts = {start: starts[first] for _, start, _, first, _ in stored if first in starts}
    fallbacks = [(firsts[start], why) for start, why in group.attrs.get(FALLBACKS, ()) if start in firsts]
    tags = [token.tag_ for token in doc]
    write_constituents(doc, key, brackets, tags, fallbacks, group.attrs.get(DEPENDENCIES, False))
    repaired: SpanGroup = doc.spans[key]
    return repaired


def has_dependencies(doc: Doc, key: str) -> bool:
    """Return whether the document's heads and relations were set from the trees in ``doc.spans[key]``."""
    return key in doc.spans and bool(doc.spans[key].attrs.get(DEPENDENCIES, False))


def read_chains(doc: Doc, key: str, start: int, end: int) -> list[Chain]:
    """Return the unary chains within a range of tokens, parents first.

    A word that is not itself a constituent is a chain without brackets.
    """
    chains: list[Chain] = []
    words = iter(words_of(doc, start, end))
    word = next(words, None)

    def add_words_before(position: int) -> None:
        nonlocal word
        while word is not None and word < position:
            chains.append(Chain(word, word + 1, ()))
            word = next(words, None)

    for bracket in read_brackets(doc, key, start, end):
        if chains and chains[-1][:2] == bracket[1:3] and chains[-1].brackets:
            chains[-1] = Chain(*bracket[1:3], (*chains[-1].brackets, bracket))
            continue
        add_words_before(bracket.start)
        chains.append(Chain(*bracket[1:3], (bracket,)))
        if bracket.end == bracket.start + 1:
            word = next(words, None)  # the chain covers this word
    add_words_before(end)
    return chains


def tree_of(doc: Doc, key: str, start: int, end: int) -> Tree:
    """Build the tree over a range of tokens; several topmost constituents are put under ``TOP``.

    Args:
        doc: a document with constituents and tags.
        key: key of the constituents in ``doc.spans``.
        start, end: range of tokens, at least one of which is a word.

    Raises:
        ComponentError: the document has no constituents, or they do not nest.
    """
    words, tags = words_of(doc, start, end), read_tags(doc, key, start, end)
    leaves = [Tree(tags[i - start], word=doc[i].text) for i in words]
    place = {token: number for number, token in enumerate(words)}
    brackets = [
        Bracket(label, place[first], place[last - 1] + 1)
        for label, first, last, _ in read_brackets(doc, key, start, end)
        if first in place and last - 1 in place
    ]
    tops = build_trees(brackets, leaves, Tree, key)
    return tops[0] if len(tops) == 1 and not tops[0].is_preterminal else Tree("TOP", tops)


def build_trees(
    brackets: Sequence[Bracket], leaves: Sequence[T], node: Callable[[str, Sequence[T]], T], key: str = KEY
) -> list[T]:
    """Build nested nodes from brackets over leaves, and return the topmost nodes from left to right.

    Args:
        brackets: labelled ranges of ``leaves``, parents first.
        leaves: nodes of single words, from left to right; at least one.
        node: function that creates a node from a label and the node's children.
        key: key of the constituents in ``doc.spans``, for error messages.

    Raises:
        ComponentError: two brackets cross.
    """
    opened: list[tuple[Bracket, list[T]]] = [(Bracket("", 0, len(leaves)), [])]
    position = 0

    def read_up_to(end: int) -> None:
        nonlocal position
        while len(opened) > 1 and opened[-1][0].end <= end:
            bracket, children = opened.pop()
            children.extend(leaves[position : bracket.end])
            position = bracket.end
            opened[-1][1].append(node(bracket.label, children))
        opened[-1][1].extend(leaves[position:end])
        position = max(position, end)

    for bracket in brackets:
        if bracket.start >= position:
            read_up_to(bracket.start)
        if bracket.start < position or bracket.end > opened[-1][0].end:
            label, start, end, _ = bracket
            raise ComponentError(Errors.SN012.format(key=key, label=label, start=start, end=end))
        opened.append((bracket, []))
    read_up_to(len(leaves))
    return opened[0][1]


def brackets_of(tree: Tree, tokens: Sequence[int], posterior: float | None = None) -> Iterator[Bracket]:
    """Yield the constituents of a tree as ranges of tokens of a document.

    Args:
        tree: a tree.
        tokens: for each word of the tree, the index of its token in the document.
        posterior: posterior probability to give to every constituent; None if it is unknown.
    """
    for label, start, end in tree.spans():
        yield Bracket(label, tokens[start], tokens[end - 1] + 1, posterior)


def gold_trees(docs: Iterable[Doc], key: str) -> Iterator[Tree]:
    """Yield the tree of each sentence; documents without annotated constituents are skipped.

    Raises:
        ComponentError: constituents do not nest, or words have no tags.
    """
    for doc in docs:
        if key not in doc.spans or not len(doc.spans[key]):
            continue
        for start, end in sentence_bounds(doc):
            if words_of(doc, start, end):
                tree = tree_of(doc, key, start, end)
                if not all(tree.tags()):
                    raise ComponentError(Errors.SN015.format(sentence=doc[start:end].text))
                yield tree
