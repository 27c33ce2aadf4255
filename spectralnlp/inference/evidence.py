"""Feature descriptions with weights, by which linear models explain their scores."""

from __future__ import annotations

from typing import NamedTuple


class Feature(NamedTuple):
    """A feature and its weight.

    Attributes:
        text: a description of the feature.
        weight: its contribution to a score, a natural logarithm.
    """

    text: str
    weight: float
