"""Spans as tags and back. Golden spans are seqeval's."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spectralnlp.text.spans import (
    Scheme,
    Span,
    count_invalid,
    scheme_of,
    spans_of,
    valid_transitions,
    write_spans,
)

LABELS = st.sampled_from(["PER", "LOC", "B-", "NP-SBJ", "O", "é"])


@st.composite
def spans_in_order(draw: st.DrawFn) -> tuple[list[Span], int]:
    """Spans that do not overlap, and the length of their sentence."""
    spans, at = [], 0
    for gap, length, label in draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), LABELS))):
        spans.append((at + gap, at + gap + length, label))
        at += gap + length
    return spans, at + draw(st.integers(0, 2))


def any_tags(marks: str) -> st.SearchStrategy[list[str]]:
    """Valid or not."""
    span = st.builds("{}-{}".format, st.sampled_from(marks), st.sampled_from(["X", "Y"]))
    return st.lists(st.one_of(st.just("O"), span))


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@given(spans_in_order())
def test_what_is_written_is_read_and_valid(scheme: Scheme, case: tuple[list[Span], int]) -> None:
    spans, n = case
    tags = write_spans(spans, n, scheme)
    assert len(tags) == n
    assert spans_of(tags) == spans
    assert count_invalid(tags, scheme) == 0


@given(any_tags("BIES"))
def test_any_tags_are_read_as_spans_that_cover_them(tags: list[str]) -> None:
    spans = spans_of(tags)
    inside = [t for first, end, _ in spans for t in range(first, end)]
    assert inside == [t for t, tag in enumerate(tags) if tag != "O"]
    for first, end, label in spans:
        assert {tag.partition("-")[2] for tag in tags[first:end]} == {label}
    for scheme in ("bio", "bioes"):
        assert spans_of(write_spans(spans, len(tags), scheme)) == spans


@given(any_tags("BIES"))
def test_no_tag_is_invalid_just_where_writing_again_changes_nothing(tags: list[str]) -> None:
    again = write_spans(spans_of(tags), len(tags), "bioes")
    assert (count_invalid(tags, "bioes") == 0) == (again == tags)


@given(any_tags("BI"))
def test_the_same_of_bio(tags: list[str]) -> None:
    again = write_spans(spans_of(tags), len(tags), "bio")
    assert count_invalid(tags, "bio") == sum(a != b for a, b in zip(again, tags, strict=True))


@pytest.mark.parametrize("scheme", ["bio", "bioes"])
@given(any_tags("BIES"))
def test_transitions_allow_just_what_is_valid(scheme: Scheme, tags: list[str]) -> None:
    if scheme == "bio":
        tags = [tag.replace("E-", "I-").replace("S-", "B-") for tag in tags]
    names = ["O", *(f"{mark}-{label}" for mark in ("BI" if scheme == "bio" else "BIES") for label in "XY")]
    pairs, first, last = valid_transitions(names, scheme)
    numbers = [names.index(tag) for tag in tags]
    allowed = all(pairs[a, b] for a, b in itertools.pairwise(numbers))
    if numbers:
        allowed = bool(allowed and first[numbers[0]] and last[numbers[-1]])
    assert allowed == (count_invalid(tags, scheme) == 0)


def test_tags_that_are_no_spans_follow_one_another_freely() -> None:
    assert all(each.all() for each in valid_transitions(["NOUN", "VERB"], "tags"))
    assert count_invalid(["I-X", "O"], "tags") == 0


@pytest.mark.parametrize(
    ("tags", "scheme"),
    [
        (["B-X", "I-X", "O"], "bio"),
        (["B-NP-SBJ"], "bio"),
        (["I-X", "O"], "bio"),
        (["B-X", "E-X"], "bioes"),
        (["S-X", "O"], "bioes"),
        (["NOUN", "VERB"], "tags"),
        (["O"], "tags"),
        ([], "tags"),
        (["B-X", "NOUN"], "tags"),
        (["B-", "O"], "tags"),
        (["B", "I", "O"], "tags"),
        (["-LRB-", "O"], "tags"),
        (["X-B"], "tags"),
    ],
)
def test_schemes(tags: list[str], scheme: str) -> None:
    assert scheme_of(tags) == scheme


# What seqeval 1.2.2 finds (`get_entities`, which counts ends in); on 100,000 random taggings the two agree.
SEQEVAL: list[tuple[str, list[Span]]] = [
    ("B-PER I-PER O B-LOC", [(0, 2, "PER"), (3, 4, "LOC")]),
    ("I-PER I-PER O I-LOC", [(0, 2, "PER"), (3, 4, "LOC")]),
    ("B-PER B-PER I-LOC", [(0, 1, "PER"), (1, 2, "PER"), (2, 3, "LOC")]),
    ("B-PER I-LOC I-LOC O I-PER", [(0, 1, "PER"), (1, 3, "LOC"), (4, 5, "PER")]),
    ("O O O", []),
    ("", []),
    ("I-PER B-PER I-PER", [(0, 1, "PER"), (1, 3, "PER")]),
    ("B-PER O I-PER", [(0, 1, "PER"), (2, 3, "PER")]),
    ("B-NP-SBJ I-NP-SBJ B-NP", [(0, 2, "NP-SBJ"), (2, 3, "NP")]),
    ("S-PER O B-LOC I-LOC E-LOC", [(0, 1, "PER"), (2, 5, "LOC")]),
    ("B-LOC E-LOC E-LOC", [(0, 2, "LOC"), (2, 3, "LOC")]),
    ("S-LOC I-LOC", [(0, 1, "LOC"), (1, 2, "LOC")]),
    ("B-LOC S-LOC", [(0, 1, "LOC"), (1, 2, "LOC")]),
    ("E-LOC I-LOC", [(0, 1, "LOC"), (1, 2, "LOC")]),
    ("B-LOC I-PER E-PER", [(0, 1, "LOC"), (1, 3, "PER")]),
    ("I-LOC E-LOC B-PER", [(0, 2, "LOC"), (2, 3, "PER")]),
]


@pytest.mark.parametrize(("tags", "spans"), SEQEVAL)
def test_spans_are_those_of_seqeval(tags: str, spans: list[Span]) -> None:
    assert spans_of(tags.split()) == spans
