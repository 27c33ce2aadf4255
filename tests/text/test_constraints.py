"""Constraints as values: what makes sense, what a model knows, and the words of refusals."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from spectralnlp.errors import InputError
from spectralnlp.text.constraints import Bracket, ConstraintError, Constraints
from spectralnlp.text.tokens import Sentence

PHRASES, TAGS = ("NP", "PP", "S", "VP"), ("DT", "NN", "NNS", "VB")


def test_they_are_sorted_and_have_no_repeats() -> None:
    given = [(3, 5), (0, 3, "NP"), [0, 3, "NP"], (0, 5, "S"), (np.int64(0), 3, None)]
    constraints = Constraints.of(given, [(1, 3)], {4: "NN", 1: "DT"})
    assert [str(each) for each in constraints.brackets] == [
        "(0, 5, 'S')",
        "(0, 3)",
        "(0, 3, 'NP')",
        "(3, 5)",
    ]
    assert constraints.tags == ((1, "DT"), (4, "NN"))
    assert constraints == Constraints.of(reversed(given), [(1, 3)], {1: "DT", 4: "NN"})
    assert not Constraints()


def test_they_survive_json_and_pickling() -> None:
    constraints = Constraints.of([(0, 3, "NP"), (3, 5)], [(1, 3, "VP")], {4: "NN"})
    assert Constraints.from_json(constraints.to_json()) == constraints
    assert Constraints.from_json({}) == Constraints()
    sentence = replace(Sentence.from_words(["a", "b"]), constraints=constraints)
    assert pickle.loads(pickle.dumps(sentence)) == sentence


def test_parts_make_the_whole() -> None:
    constraints = Constraints.of([(0, 3, "NP"), (3, 5)], [(1, 3, "VP")], {4: "NN"})
    parts = constraints.parts()
    assert [name for name, _ in parts] == [
        "bracket (0, 3, 'NP')",
        "bracket (3, 5)",
        "forbidden bracket (1, 3, 'VP')",
        "tag 'NN' of token 4",
    ]
    assert Constraints.union(each for _, each in parts) == constraints


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"brackets": [(0, 3, "NP"), (2, 5)]}, "(0, 3, 'NP') and (2, 5) cross"),
        ({"brackets": [(1, 2), (0, 3), (2, 4)]}, "(0, 3) and (2, 4) cross"),
        ({"brackets": [(3, 3)]}, "(3, 3) of brackets is empty"),
        ({"brackets": [(3, 1)]}, "is empty"),
        ({"forbidden": [(-1, 1)]}, "-1 is no token's number"),
        ({"brackets": [(0, 1.5)]}, "1.5 is no token's number"),
        ({"brackets": [(False, True)]}, "False is no token's number"),
        ({"brackets": [(0, 1, "")]}, "'' is no label"),
        ({"brackets": [(0, 1, 7)]}, "7 is no label"),
        ({"brackets": ["NP"]}, "'NP', which is no bracket"),
        ({"brackets": [(1,)]}, "which is no bracket"),
        ({"brackets": (0, 3, "NP")}, "0, which is no bracket"),
        ({"brackets": "NP"}, "brackets is str"),
        ({"forbidden": 7}, "forbidden is int"),
        ({"brackets": [(0, 3, "NP")], "forbidden": [(0, 3)]}, "(0, 3, 'NP') is required, and (0, 3) is"),
        ({"brackets": [(0, 3, "NP")], "forbidden": [(0, 3, "NP")]}, "is forbidden"),
        ({"tags": {1: ""}}, "'' is no tag"),
        ({"tags": {"one": "NN"}}, "'one' is no token's number"),
        ({"tags": ["NN"]}, "tags are list"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ConstraintError) as refusal:
        Constraints.of(**given)
    assert what in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert isinstance(refusal.value, InputError)


def test_what_goes_together_is_not_refused() -> None:
    Constraints.of([(0, 3), (0, 3, "NP"), (0, 3, "S"), (1, 3), (3, 4)], [(0, 3, "VP"), (2, 5), (3, 5)])


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ([], "constraints are an object, not list"),
        (None, "not nothing"),
        ({"bracket": []}, "constraints have no 'bracket'"),
        ({"tags": {"x": "NN"}}, "tags are no map"),
        ({"tags": ["NN"]}, "tags are no map"),
        ({"brackets": {"0": 1}}, "brackets is dict"),
    ],
)
def test_json_of_something_else_is_refused(value: object, what: str) -> None:
    with pytest.raises(ConstraintError) as refusal:
        Constraints.from_json(value)
    assert what in str(refusal.value)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"brackets": [(0, 6)]}, "bracket (0, 6) reaches beyond the sentence, which has 5 tokens"),
        ({"forbidden": [(5, 6)]}, "forbidden bracket (5, 6) reaches beyond"),
        ({"tags": {5: "NN"}}, "tag 'NN' of token 5 is beyond"),
        ({"tags": {0: "NX"}}, "the model has no tag 'NX'; did you mean NN"),
        ({"tags": {0: "§"}}, "there are DT, NN, NNS, VB"),
        ({"brackets": [(0, 2, "NNP")]}, "'NNP' is no phrase of the model; did you mean NP"),
        ({"forbidden": [(0, 2, "NN")]}, "'NN' is a tag, no phrase; give it in tags"),
        ({"brackets": [(0, 4, "TOP")]}, "'TOP' is no phrase"),
    ],
)
def test_what_a_model_does_not_know_is_refused(given: dict[str, Any], what: str) -> None:
    with pytest.raises(ConstraintError) as refusal:
        Constraints.of(**given).check(5, PHRASES, TAGS)
    assert what in str(refusal.value)


def test_the_root_is_in_every_tree() -> None:
    constraints = Constraints.of([(0, 5, "TOP"), (0, 5, "S")])
    assert constraints.check(5, PHRASES, TAGS).brackets == (Bracket(0, 5, "S"),)
    assert constraints.check(5, (*PHRASES, "TOP"), TAGS) == constraints


def test_a_tree_that_breaks_one_is_told() -> None:
    spans, tags = [("S", 0, 5), ("NP", 0, 2)], ["DT", "NN", "VB", "DT", "NN"]
    for given, broken in (
        ({"brackets": [(0, 2), (0, 5, "S")], "forbidden": [(0, 3), (0, 2, "VP")], "tags": {0: "DT"}}, None),
        ({"brackets": [(0, 2), (2, 5)]}, "bracket (2, 5)"),
        ({"brackets": [(0, 2, "VP")]}, "bracket (0, 2, 'VP')"),
        ({"forbidden": [(0, 2)]}, "forbidden bracket (0, 2)"),
        ({"tags": {1: "VB"}}, "tag 'VB' of token 1"),
    ):
        assert Constraints.of(**given).broken_by(spans, tags) == broken
