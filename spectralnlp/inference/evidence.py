"""Features in words, with what they weigh: how models that score features explain themselves."""

from __future__ import annotations

from typing import NamedTuple


class Feature(NamedTuple):
    """A feature and its weight.

    Attributes:
        text: what the feature is, in words.
        weight: what it adds to a score, a natural logarithm.
    """

    text: str
    weight: float
