"""Settings of a parser that a treebank may speak for, and how large their trials are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from typing_extensions import Doc

Settings = Mapping[str, object]

# In the order in which they are tried: what changes the trees first.
_ONE_BINARISATION: Sequence[Settings] = ({"binarisations": "left"}, {"binarisations": "right"})
_QUICK: Sequence[Settings] = (
    {"heads": "neutral"},
    {"unaries": "collapse"},
    {"signatures": "neutral"},
    {"signatures": "english"},
    {"rare": 2},
    {"rare": 10},
    {"tag_weight": 0.3},
    {"decoder": "max-rule"},
)
_FULL: Sequence[Settings] = (
    *_QUICK,
    {"n_clusters": 16},
    {"n_clusters": 40},
    {"nodes_per_state": 25.0},
    {"nodes_per_state": 100.0},
    {"em_iterations": 4},
    {"bracket_price": 0.35},
    {"bracket_price": 0.45},
)
# Of a trainer that learns fast.
SMALL: Settings = {"grammars": "clusters", "span_scorer": False, "sentence_ends": False}
_UNLIMITED = 10**9


@dataclass(kw_only=True)
class Tuning:
    """Whether settings are chosen from the trees, before a trainer learns from all of them."""

    tune: Annotated[
        Literal["none", "quick", "full"],
        Doc(
            "Choose settings by the F1 of held-out trees: ``quick`` by small grammars of 3,000 trees, in "
            "about the time of one training; ``full`` by whole grammars of all trees, in twenty times that."
        ),
    ] = "none"


@dataclass(frozen=True, kw_only=True)
class Trials:
    """How settings are chosen: trainers with some of them learn from some trees and are scored on others.

    Attributes:
        alternatives: settings that are tried, one after the other, each with those taken before it; they are
            taken if F1 is better, and not by chance.
        settings: of the trainers that are tried, to learn faster.
        most_trees: from so many a trial learns, at most.
        most_held_out: so many it is scored on, at most.
    """

    alternatives: Sequence[Settings]
    settings: Settings
    most_trees: int
    most_held_out: int


def trials_of(tune: Literal["quick", "full"], *, pooled: bool) -> Trials:
    """Return what is tried, on how many trees.

    Args:
        tune: how thoroughly.
        pooled: whether there are several binarisations, which then stay.
    """
    alternatives = () if pooled else _ONE_BINARISATION
    if tune == "quick":
        return Trials(
            alternatives=(*alternatives, *_QUICK), settings=SMALL, most_trees=3_000, most_held_out=1_000
        )
    return Trials(
        alternatives=(*alternatives, *_FULL),
        settings={"sentence_ends": False},
        most_trees=_UNLIMITED,
        most_held_out=2_500,
    )
