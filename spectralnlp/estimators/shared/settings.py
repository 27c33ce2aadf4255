"""Hyper-parameters shared by several estimators: the type, range and help text of each, and its default.

An estimator declares a hyper-parameter with the shared type and the shared default, as in
``scaling: settings.Scaling = settings.SCALING``, or with another default. A common base class would not do,
because its fields would come first in lists of settings.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.estimator import Estimator
from spectralnlp.trees import Unaries


class Options:
    """Base class of dataclasses whose fields are some of an estimator's hyper-parameters."""

    @classmethod
    def of(cls, estimator: Estimator[Any], **others: object) -> Self:
        """Return options that take the values of an estimator's hyper-parameters of the same names.

        Args:
            estimator: the estimator.
            others: values of fields by name, used instead of the estimator's.
        """
        params = estimator.get_params(deep=False)
        names = {field.name for field in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: value for name, value in params.items() if name in names} | others)


# ---------------------------------------------------------------------------------------------------------
# Trees and words

UnaryRules = Annotated[
    Unaries,
    Doc("Unary chains: ``compress`` them to (top, bottom), or ``collapse`` them into one label."),
]
UNARIES: Unaries = "compress"

Language = Literal["auto", "english", "neutral"]
Heads = Annotated[
    Language,
    Doc("Head rules: ``english``, ``neutral``, or ``auto`` to choose by the words of the first trees."),
]
Signatures = Annotated[
    Language,
    Doc(
        "Signatures of rare and unknown words: ``english``, ``neutral``, or ``auto`` to choose by the words."
    ),
]
AUTO: Language = "auto"

RARE = 5  # largest frequency of the words that signatures are learned from

KeepRareWords = Annotated[
    bool,
    Doc("Keep rare words in the lexicon, with smoothing, instead of replacing them by signatures."),
]
KEEP_RARE_WORDS = True

TAG_WEIGHT = 0.1  # weight of a tag's mean vector in the vectors of its words

# ---------------------------------------------------------------------------------------------------------
# Projections: vectors of nodes from features

MIN_FEATURE_COUNT = 2.0  # features with a lower count in a symbol or tag are dropped

Scaling = Annotated[bool, Doc("Scale features by sqrt(1 / (count + κ)).")]
SCALING = True

KAPPA = 5.0  # κ, added to the count of each feature that is scaled

Shrinkage = Annotated[
    float, Ge(0), Doc("ρ: Z is divided by σ_i + ρσ₁, which shrinks noisy directions; 0 as published.")
]
SHRINKAGE = 0.15

MIN_SINGULAR_VALUE = 1e-6  # states with a smaller σ_i / σ₁ are dropped

NodesPerState = Annotated[
    float, Ge(0), Doc("Minimum number of nodes of a symbol per state; 0 for no such bound.")
]
NODES_PER_STATE = 50.0  # also the number of tokens of a tag per refinement
MIN_NODES = 20.0  # symbols or tags with fewer nodes have one state

# ---------------------------------------------------------------------------------------------------------
# Parameters: means of outer products, or counts of clusters

Smoothing = Annotated[
    bool, Doc("Smooth tensors with lower-order moments, and the vectors of words with those of signatures.")
]
SMOOTHING = True

CLUSTER_DIMENSIONS = 8  # number of singular vectors on each side by which nodes or tokens are clustered

EMIterations = Annotated[
    int, Ge(0), Le(1000), Doc("Number of EM iterations that refine the clusters, on the training examples.")
]
EM_ITERATIONS = 1

RandomState = Annotated[int, Ge(0), Doc("Random seed.")]
RANDOM_STATE = 0
