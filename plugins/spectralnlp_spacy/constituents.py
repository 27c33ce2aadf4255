"""Constituents of documents: how they lie in ``doc.spans``, and the way back to trees.

``doc.spans["constituents"]`` holds one labelled span a constituent, parents before children and sentence
after sentence; the members of a unary chain stand one after the other, the uppermost first. A sentence's
first span covers it. White space is no word: spans begin and end at words, and may have white space inside.
What belongs to spans or tokens one by one is in the group's ``attrs``, as plain lists, and saved with them:

- ``posteriors``: of each span;
- ``tags``: the tree's part of speech of each token of the document, empty for white space;
- ``fallbacks``: [first token, reason] of each sentence whose tree is not simply the grammar's best;
- ``dependencies``: whether the parser set the document's heads and relations from the trees.

Where tokens are merged or split (``doc.retokenize``), spaCy leaves the groups of ``doc.spans`` as they were.
The first reading mends the group: constituents keep their characters, and those that are no tokens any more
are gone.
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

KEY = "constituents"
POSTERIORS, TAGS, FALLBACKS, DEPENDENCIES = "posteriors", "tags", "fallbacks", "dependencies"
_SPAN = ">QQQllll"  # a span in SpanGroup.to_bytes: ids, label, first token, end, first character, end
T = TypeVar("T")


class Bracket(NamedTuple):
    """A labelled stretch of tokens or words.

    Args:
        label: its category.
        start, end: ``end`` exclusive.
        posterior: its probability, in [0, 1]; None where nothing is known of it.
    """

    label: str
    start: int
    end: int
    posterior: float | None = None


class Chain(NamedTuple):
    """The constituents over one stretch of tokens, or a token that is none by itself.

    Args:
        start, end: tokens of the document, ``end`` exclusive.
        brackets: the uppermost first; empty for a token alone.
    """

    start: int
    end: int
    brackets: tuple[Bracket, ...]


def words_of(doc: Doc, start: int = 0, end: int | None = None) -> list[int]:
    """Indices of the tokens that are words, not white space."""
    return [i for i in range(start, len(doc) if end is None else end) if not doc[i].is_space]


def write_constituents(
    doc: Doc,
    key: str,
    brackets: Sequence[Bracket],
    tags: Sequence[str],
    fallbacks: Sequence[tuple[int, str]] = (),
    dependencies: bool = False,
) -> None:
    """Put constituents into ``doc.spans[key]``.

    Args:
        doc: where they belong.
        key: name of the group; what it held is replaced.
        brackets: over tokens of the document, in the order of this module.
        tags: of each token.
        fallbacks: first token and reason of each sentence with a fallback tree.
        dependencies: whether the document's heads and relations are those of the trees.
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
    """The constituents within a stretch of tokens, parents first; unary chains as they stand in the group.

    Raises:
        ComponentError: the document has no such group.
    """
    group = _group(doc, key)
    if group is None:
        raise ComponentError(Errors.SN010.format(key=key))
    end = len(doc) if end is None else end
    posteriors: Sequence[float | None] = group.attrs.get(POSTERIORS, ())
    if len(posteriors) == len(group):  # as `write_constituents` left it: in order
        spans: Sequence[Span] = group
        first = bisect_left(range(len(group)), start, key=lambda number: group[number].start)
    else:  # spans that users set, or that Doc.from_docs put together, which drops attributes
        spans, posteriors = sorted(group, key=lambda span: (span.start, -span.end)), [None] * len(group)
        first = 0
    found: list[Bracket] = []
    for number in range(first, len(spans)):
        span = spans[number]
        if not _is_in_place(span):
            _mend(doc, key)
            return read_brackets(doc, key, start, end)
        if span.start >= end:
            break
        if start <= span.start and span.end <= end:
            found.append(Bracket(span.label_, span.start, span.end, posteriors[number]))
    return found


def read_tags(doc: Doc, key: str, start: int, end: int) -> list[str]:
    """The tags of a stretch of tokens: the document's own, and the tree's where it has none."""
    group = _group(doc, key)
    tags: Sequence[str] = group.attrs.get(TAGS, ()) if group is not None else ()
    tags = tags if len(tags) == len(doc) else [""] * len(doc)
    return [doc[i].tag_ or tags[i] for i in range(start, end)]


def read_fallback(span: Span, key: str) -> str | None:
    """Why the tree that a span lies in is not simply the grammar's best; None if it is."""
    group = _group(span.doc, key)
    if group is None:
        return None
    sentence = span.sent
    fallbacks = group.attrs.get(FALLBACKS, ())
    return next((why for first, why in fallbacks if sentence.start <= first < sentence.end), None)


def _group(doc: Doc, key: str) -> SpanGroup | None:
    """A group of constituents, mended if tokens were merged or split; None if the document has none."""
    if key not in doc.spans:
        return None
    group: SpanGroup = doc.spans[key]
    try:
        in_place = (
            len(group.attrs[TAGS]) == len(doc) if TAGS in group.attrs else all(map(_is_in_place, group))
        )
    except IndexError:  # of spaCy: a span ends beyond the document
        in_place = False
    return group if in_place else _mend(doc, key)


def _is_in_place(span: Span) -> bool:
    """Whether a span's tokens still have its characters."""
    first, last = span.doc[span.start], span.doc[span.end - 1]
    return bool(span.start_char == first.idx and span.end_char == last.idx + len(last))


def _mend(doc: Doc, key: str) -> SpanGroup:
    """Put the constituents of a group over the tokens that now have their characters.

    A constituent that begins or ends within a token is left out.
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
    mended: SpanGroup = doc.spans[key]
    return mended


def has_dependencies(doc: Doc, key: str) -> bool:
    """Whether the document's heads and relations were set from the trees of a group."""
    return key in doc.spans and bool(doc.spans[key].attrs.get(DEPENDENCIES, False))


def read_chains(doc: Doc, key: str, start: int, end: int) -> list[Chain]:
    """Constituents over each stretch of tokens, parents first, down to the single words."""
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
            word = next(words, None)  # the word is this chain's
    add_words_before(end)
    return chains


def tree_of(doc: Doc, key: str, start: int, end: int) -> Tree:
    """The tree over a stretch of tokens: its only uppermost constituent, or all of them under ``TOP``.

    Args:
        doc: a document with constituents and tags.
        key: name of their group.
        start, end: tokens; at least one of them is a word.

    Raises:
        ComponentError: there are no constituents, or they do not nest.
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
    """Nested nodes from brackets over leaves; the uppermost, from left to right.

    Args:
        brackets: parents first.
        leaves: one or more.
        node: makes a node of a label and its children.
        key: name of the group, for errors.

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
    """The constituents of a tree over tokens of a document.

    Args:
        tree: a tree.
        tokens: of the tree's words, which token each is.
        posterior: of them all.
    """
    for label, start, end in tree.spans():
        yield Bracket(label, tokens[start], tokens[end - 1] + 1, posterior)


def gold_trees(docs: Iterable[Doc], key: str) -> Iterator[Tree]:
    """The trees of documents that have constituents, a sentence each.

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


def sentence_bounds(doc: Doc) -> list[tuple[int, int]]:
    """First token and end of each sentence; a document without sentence boundaries is one."""
    if not len(doc):
        return []
    if not doc.has_annotation("SENT_START"):
        return [(0, len(doc))]
    return [(sentence.start, sentence.end) for sentence in doc.sents]
