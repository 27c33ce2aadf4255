"""Read, write and check spans that are encoded as one tag per token, in BIO (IOB2) or BIOES."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scheme = Literal["tags", "bio", "bioes"]
# Index of the first token, end index (exclusive), label.
Span = tuple[int, int, str]


def scheme_of(tags: Iterable[str]) -> Scheme:
    """Return the encoding of a set of tags.

    The encoding is ``bio`` if every tag but O is ``B-…`` or ``I-…``, ``bioes`` if some are ``E-…`` or
    ``S-…``, and ``tags`` if the tags do not encode spans.
    """
    marks = set()
    for tag in tags:
        mark, dash, label = tag.partition("-")
        if tag == "O":
            continue
        if mark not in ("B", "I", "E", "S") or not dash or not label:
            return "tags"
        marks.add(mark)
    if not marks:
        return "tags"
    return "bioes" if marks & {"E", "S"} else "bio"


def _parts(tag: str) -> tuple[str, str]:
    mark, _, label = tag.partition("-")
    return mark, label


def _joined(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Return whether tag ``now`` continues the span of the previous tag; tags are pairs (prefix, label)."""
    return now[0] in "IE" and before[0] in "BI" and before[1] == now[1]


def spans_of(tags: Sequence[str]) -> list[Span]:
    """Return the spans (start, end, label) that the BIO or BIOES tags of a sentence encode; ends exclusive.

    As in conlleval, any tag but O that does not continue the span before begins a new one.
    """
    spans: list[Span] = []
    before, first = ("O", ""), 0
    for t, tag in enumerate([*tags, "O"]):
        now = _parts(tag)
        if before[0] != "O" and not _joined(before, now):
            spans.append((first, t, before[1]))
        if now[0] != "O" and not _joined(before, now):
            first = t
        before = now
    return spans


def write_spans(spans: Iterable[Span], n: int, scheme: Scheme) -> list[str]:
    """Encode spans (start, end, label) as one tag for each of ``n`` tokens, in BIO or BIOES.

    Args:
        spans: spans of tokens that do not overlap; ends exclusive.
        n: number of tokens of the sentence.
        scheme: ``bio`` or ``bioes``.
    """
    tags = ["O"] * n
    for first, end, label in spans:
        tags[first:end] = [f"I-{label}"] * (end - first)
        tags[first] = f"B-{label}"
        if scheme == "bioes":
            tags[end - 1] = f"E-{label}" if end - first > 1 else f"S-{label}"
    return tags


def count_invalid(tags: Sequence[str], scheme: Scheme) -> int:
    """Count the tags of a sentence that the scheme does not allow after the previous tag or at the end."""
    if scheme == "tags":
        return 0
    marks = [("O", ""), *map(_parts, tags), ("O", "")]
    return sum(not _may_follow(a, b, scheme) for a, b in pairwise(marks))


def _may_follow(before: tuple[str, str], now: tuple[str, str], scheme: Scheme) -> bool:
    if now[0] in "IE":
        return _joined(before, now)
    return scheme == "bio" or before[0] in "OES"  # in BIOES a span that began must end


def valid_transitions(
    tags: Sequence[str], scheme: Scheme
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which tags may follow which, begin a sentence, and end a sentence.

    Returns:
        Three bool arrays: whether tag j may follow tag i (n_tags, n_tags); whether a tag may be first
        (n_tags,); whether a tag may be last (n_tags,).
    """
    n = len(tags)
    if scheme == "tags":
        return np.ones((n, n), bool), np.ones(n, bool), np.ones(n, bool)
    marks = [_parts(tag) for tag in tags]
    outside = ("O", "")
    pairs = [[_may_follow(a, b, scheme) for b in marks] for a in marks]
    first = [_may_follow(outside, b, scheme) for b in marks]
    last = [_may_follow(a, outside, scheme) for a in marks]
    return np.array(pairs), np.array(first), np.array(last)
