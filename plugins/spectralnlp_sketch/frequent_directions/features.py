"""Featurizer ``frequent-directions.v1``: tf-idf rows of texts, projected to few dimensions by a sketch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.storage import Array, StoredArrays
from spectralnlp_sketch.featurizer import single_precision
from spectralnlp_sketch.frequent_directions.estimator import FrequentDirections
from spectralnlp_sketch.transformer import Solution
from spectralnlp_sketch.word_rows import WordRowsFeaturizer


@dataclass(kw_only=True, eq=False, repr=False)
class FrequentDirectionsFeatures(WordRowsFeaturizer):
    """Featurizer that projects tf-idf rows of texts onto the directions of a frequent-directions sketch.

    This is latent semantic analysis of a stream, with `FrequentDirections` instead of an SVD.

    Attributes:
        words_: hashes and idf of the words that have a column in the tf-idf rows.
        matrices_: the fitted `FrequentDirections`.
        n_texts_: number of texts learned from.

    Examples:
        >>> from spectralnlp_sketch import FrequentDirectionsFeatures
        >>> texts = ["the boat left", "a boat on the sea", "the oven is hot", "bread and salt"]
        >>> FrequentDirectionsFeatures(sketch_size=3).fit(texts).transform(texts).shape
        (4, 3)
    """

    sketch_size: Annotated[int, Ge(1), Doc("Rows of the sketch and columns of `transform`.")] = field(
        default=300, kw_only=False
    )
    random_state: Annotated[int, Ge(0), Doc("Seed of the sketch.")] = 0

    def make(self) -> FrequentDirections:
        """Return an unfitted `FrequentDirections` with this featurizer's settings."""
        return FrequentDirections(sketch_size=self.sketch_size, random_state=self.random_state)

    def _learned(self) -> dict[str, Array]:
        sketch: FrequentDirections = self.matrices_
        return {"directions": sketch.components_, "singular_values": sketch.singular_values_}

    def _set_learned(self, arrays: StoredArrays) -> None:
        sketch: FrequentDirections = self.matrices_
        directions = arrays.take("directions", single_precision("k", "n_words"))
        sigma = arrays.take("singular_values", single_precision("k"))
        # B itself is not stored, since texts are projected onto its leading directions only.
        sketch.solutions_ = {"solution": Solution(np.empty((0, directions.shape[1])), directions, sigma)}
