"""Clusters of words from unlabelled text, and the tags that rare words of each cluster have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, WithArrays, float_array, int_array


@dataclass(frozen=True, kw_only=True, eq=False)
class WordClusters(WithArrays):
    """A coarse and a fine cluster of words, and factors of the tags of fine ones.

    Attributes:
        words: words that have clusters.
        tags: labels of tags.
        tag_factors: float64 (n_clusters, n_tags); p(tag | fine cluster) / p(tag) of rare words. Row 0, of
            words without a cluster, holds ones.
        clusters: int32 (n_words, 2); a coarse and a fine cluster of each word, from 1.
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tag_factors: Annotated[Floats, float_array("n_clusters", "n_tags", least=0.0)]
    clusters: Annotated[Ints, int_array("n_words", 2, below="n_clusters")]

    __repr__ = one_line

    @classmethod
    def none(cls) -> WordClusters:
        """No clusters at all."""
        return cls(clusters=np.empty((0, 2), np.int32), tag_factors=np.ones((1, 0)))

    @cached_property
    def _row(self) -> Mapping[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def of(self, word: str) -> tuple[int, int]:
        """The coarse and the fine cluster of a word, or else of its lower case; zeros for neither."""
        row = self._row.get(word)
        if row is None:
            row = self._row.get(word.lower())
        return (0, 0) if row is None else (int(self.clusters[row, 0]), int(self.clusters[row, 1]))

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of a model folder, the same whether ``compact`` or not: they are small."""
        return super().to_arrays()

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder: names."""
        return {"words": list(self.words), "tags": list(self.tags)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> WordClusters:
        """The clusters that gave these.

        Args:
            arrays: of `to_arrays`.
            described: of `to_json`.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        names = described.fields(cls, "words", "tags")
        sized = arrays.part(n_words=len(names["words"]), n_tags=len(names["tags"]))
        return cls(**names, **sized.fields(cls))
