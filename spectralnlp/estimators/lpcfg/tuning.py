"""Settings of `LPCFG` that a treebank may speak for, and how large their trials are."""

from __future__ import annotations

from typing import Literal

from spectralnlp.estimator import Tuning

Settings = tuple[dict[str, object], ...]

# In the order in which they are tried: what changes the trees first.
_ONE_BINARISATION: Settings = ({"binarisations": "left"}, {"binarisations": "right"})
_QUICK: Settings = (
    {"heads": "neutral"},
    {"unaries": "collapse"},
    {"signatures": "neutral"},
    {"signatures": "english"},
    {"rare": 2},
    {"rare": 10},
    {"tag_weight": 0.3},
    {"decoder": "max-rule"},
)
_FULL: Settings = (
    *_QUICK,
    {"n_clusters": 16},
    {"n_clusters": 40},
    {"nodes_per_state": 25.0},
    {"nodes_per_state": 100.0},
    {"em_iterations": 4},
    {"bracket_price": 0.35},
    {"bracket_price": 0.45},
)
_SMALL = {"grammars": "clusters", "span_scorer": False, "sentence_ends": False}
_FINAL = {"tune": "none"}
_UNLIMITED = 10**9


def tuning_of(tune: Literal["quick", "full"], *, pooled: bool) -> Tuning:
    """Return what is tried, on how many trees.

    Args:
        tune: how thoroughly.
        pooled: whether there are several binarisations, which then stay.
    """
    alternatives = () if pooled else _ONE_BINARISATION
    if tune == "quick":
        return Tuning(
            alternatives=alternatives + _QUICK,
            trial=_SMALL,
            final=_FINAL,
            most_examples=3_000,
            most_held_out=1_000,
        )
    return Tuning(
        alternatives=alternatives + _FULL,
        trial={"sentence_ends": False},
        final=_FINAL,
        most_examples=_UNLIMITED,
        most_held_out=2_500,
    )
