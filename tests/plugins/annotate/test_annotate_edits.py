"""Edits of a sentence: what was said last wins, and everything can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from spectralnlp_annotate.edits import EDITS, AnnotatedSentence, EditError

from spectralnlp.text.constraints import Bracket

WORDS = ("the", "old", "man", "the", "boat", ".")
START = AnnotatedSentence(words=WORDS)


def after(*edits: dict[str, Any], start: AnnotatedSentence = START) -> AnnotatedSentence:
    sentence = start
    for edit in edits:
        sentence = sentence.edited(edit)
    return sentence


def bracket(do: str, start: int, end: int, label: str | None, **more: Any) -> dict[str, Any]:
    return {"do": do, "start": start, "end": end, "label": label, **more}


def test_a_bracket_that_is_asked_for_is_forbidden_no_longer() -> None:
    sentence = after(bracket("remove", 0, 2, None), bracket("require", 0, 2, "NP"))
    assert sentence.brackets == {Bracket(0, 2, "NP")}
    assert not sentence.forbidden


def test_a_bracket_takes_the_place_of_those_that_it_crosses() -> None:
    sentence = after(
        bracket("require", 0, 3, "NP"), bracket("require", 3, 5, "NP"), bracket("require", 2, 5, "VP")
    )
    assert sentence.brackets == {Bracket(3, 5, "NP"), Bracket(2, 5, "VP")}


def test_removing_forbids_and_drops_what_was_asked_for() -> None:
    asked = after(bracket("require", 0, 3, "NP"), bracket("require", 0, 3, "S"))
    one = after(bracket("remove", 0, 3, "NP"), start=asked)
    assert (one.brackets, one.forbidden) == ({Bracket(0, 3, "S")}, {Bracket(0, 3, "NP")})
    both = after(bracket("remove", 0, 3, None), start=asked)
    assert (both.brackets, both.forbidden) == (set(), {Bracket(0, 3)})


def test_moving_and_relabelling_forbid_what_was_there() -> None:
    moved = after(bracket("move", 0, 3, "NP", new_start=0, new_end=2))
    assert (moved.brackets, moved.forbidden) == ({Bracket(0, 2, "NP")}, {Bracket(0, 3, "NP")})
    relabelled = after(bracket("relabel", 0, 3, "NP", new_label="S"))
    assert (relabelled.brackets, relabelled.forbidden) == ({Bracket(0, 3, "S")}, {Bracket(0, 3, "NP")})
    assert relabelled.constraints.brackets == (Bracket(0, 3, "S"),)


def test_merging_and_splitting_move_what_was_said() -> None:
    said = after(
        bracket("require", 3, 5, "NP"), bracket("remove", 1, 2, None), {"do": "tag", "word": 4, "tag": "NN"}
    )
    merged = after({"do": "merge", "word": 0}, start=said)
    assert merged.words == ("theold", "man", "the", "boat", ".")
    assert merged.brackets == {Bracket(2, 4, "NP")}
    assert merged.tags == ((3, "NN"),)
    split = after({"do": "split", "word": 0, "parts": "the old"}, start=merged)
    assert split.words == WORDS
    assert split.brackets == said.brackets
    assert split.tags == said.tags
    assert after({"do": "merge", "word": 4}, start=said).tags == ()  # another word's tag now


def test_a_bracket_of_two_merged_words_becomes_one_of_the_word() -> None:
    said = after(bracket("require", 1, 3, "NP"), bracket("remove", 1, 2, None), {"do": "merge", "word": 1})
    assert said.words[1] == "oldman"
    assert said.brackets == {Bracket(1, 2, "NP")}


def test_every_edit_but_a_comment_opens_an_accepted_sentence() -> None:
    accepted = after({"do": "accept", "tree": "(TOP …)"})
    assert accepted.tree == "(TOP …)"
    assert after({"do": "comment", "text": "odd"}, start=accepted).tree == "(TOP …)"
    for edit in (
        bracket("require", 0, 2, "NP"),
        {"do": "reopen"},
        {"do": "clear"},
        {"do": "merge", "word": 0},
    ):
        assert after(edit, start=accepted).tree is None


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        ({"do": "explode"}, "no edit 'explode'"),
        ({}, "no edit 'None'"),
        ({"do": ["require"]}, "no edit"),
        (bracket("require", 0, 7, "NP"), "no such words; the sentence has the words 0 to 5"),
        (bracket("require", 2, 2, "NP"), "no such words"),
        (bracket("require", True, 2, "NP"), "no such words"),
        (bracket("require", 0, 2, ""), "no label was given"),
        (bracket("require", 0, 2, "N" * 201), "no label was given"),
        ({"do": "require", "start": 0}, "require: missing"),
        ({"do": "require", "start": 0, "end": 1, "label": "NP", "more": 1}, "require: got an unexpected"),
        ({"do": "tag", "word": 6, "tag": "NN"}, "no such word"),
        ({"do": "tag", "word": 0, "tag": None}, "no tag was given"),
        ({"do": "merge", "word": 5}, "the last token has no next one"),
        ({"do": "split", "word": 0, "parts": "the"}, "a token must be split into two or more"),
        ({"do": "split", "word": 0, "parts": 3}, "a token must be split into two or more"),
        ({"do": "split", "word": 0, "parts": f"a {'b' * 201}"}, "a token of more than 200 characters"),
        ({"do": "comment", "text": 3}, "a comment must be text"),
        ({"do": "accept", "tree": None}, "a tree must be text in brackets"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edit: dict[str, Any], what: str) -> None:
    with pytest.raises(EditError) as caught:
        START.edited(edit)
    assert what in str(caught.value)


def test_all_edits_are_tried_here() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in EDITS if f'"{name}"' not in text] == []
