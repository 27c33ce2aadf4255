"""Topics as distributions over words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from spectralnlp.parameters.arrays import Floats


@dataclass(frozen=True, eq=False)
class TopicMixture:
    """Distributions over words, and how documents mix them (Blei, Ng and Jordan 2003).

    Attributes:
        words: V names.
        weights: float64 (k,), summing to one; how much of all text each topic is, most first.
        topics: float64 (k, V); p(word | topic), rows sum to one.
        frequencies: float64 (V,), summing to one; of the words in the training text.
        alpha0: α0, the concentration of documents' mixtures: α = α0 · weights. 0: each document has one
            topic.
    """

    words: tuple[str, ...]
    weights: Floats
    topics: Floats
    frequencies: Floats
    alpha0: float

    @cached_property
    def word_index(self) -> Mapping[str, int]:
        """Index of each word."""
        return {word: index for index, word in enumerate(self.words)}
