"""Hyper-parameters that several estimators have: type, range and help of each, and its usual default.

A field takes both, ``scaling: settings.Scaling = settings.SCALING``, or the type with a default of its own.
They are not fields of a common base class, because those would come first wherever settings are listed.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.estimator import Estimator
from spectralnlp.trees import Unaries


class Options:
    """Base class of dataclasses that pass some of an estimator's hyper-parameters on, under their names."""

    @classmethod
    def of(cls, estimator: Estimator[Any], **others: object) -> Self:
        """Take what the estimator has, and ``others`` in place of it or in addition."""
        params = estimator.get_params(deep=False)
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in params.items() if name in names} | others)


# ---------------------------------------------------------------------------------------------------------
# Trees and words

UnaryRules = Annotated[
    Unaries,
    Doc("``compress`` unary chains to (top, bottom), or ``collapse`` them into one label."),
]
UNARIES: Unaries = "compress"

Language = Literal["auto", "english", "neutral"]
Heads = Annotated[
    Language,
    Doc("Head rules, ``english``, ``neutral`` or, by the words of the first trees, ``auto``."),
]
Signatures = Annotated[
    Language,
    Doc("Signatures of rare and unknown words, ``english``, ``neutral`` or, by the words seen, ``auto``."),
]
AUTO: Language = "auto"

RARE = 5  # words seen at most so often teach what signatures do

KeepRareWords = Annotated[
    bool,
    Doc("Keep rare words in the lexicon, smoothed; otherwise signatures replace them."),
]
KEEP_RARE_WORDS = True

TAG_WEIGHT = 0.1  # of a tag's mean vector in the vectors of its words

# ---------------------------------------------------------------------------------------------------------
# Projections: from features to states

MIN_FEATURE_COUNT = 2.0  # features seen less often with a symbol or tag are dropped

Scaling = Annotated[bool, Doc("Scale features by sqrt(1 / (count + κ)).")]
SCALING = True

KAPPA = 5.0  # κ, added to the count of each feature that is scaled

Shrinkage = Annotated[float, Ge(0), Doc("ρ; Z is divided by σ_i + ρσ₁ rather than σ_i. 0 as published.")]
SHRINKAGE = 0.15

MIN_SINGULAR_VALUE = 1e-6  # states whose σ_i / σ₁ is smaller are dropped

NodesPerState = Annotated[float, Ge(0), Doc("Nodes that a symbol needs for each state; 0 for no such bound.")]
NODES_PER_STATE = 50.0  # tokens of a tag, too
MIN_NODES = 20.0  # symbols or tags with fewer have one state

# ---------------------------------------------------------------------------------------------------------
# Parameters: means of outer products, or clusters that are counted

Smoothing = Annotated[bool, Doc("Back off from tensors to moments of lower order.")]
SMOOTHING = True

CLUSTER_DIMENSIONS = 8  # singular vectors of each side that nodes or tokens are clustered by

EMIterations = Annotated[
    int, Ge(0), Le(1000), Doc("Iterations of EM from the clusters, on the same examples.")
]
EM_ITERATIONS = 1

RandomState = Annotated[int, Ge(0), Doc("Seed of all that is drawn at random.")]
RANDOM_STATE = 0
