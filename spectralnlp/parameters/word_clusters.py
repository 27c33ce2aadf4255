"""Word clusters learned from unlabelled text, and the tag distribution of rare words in each cluster."""

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
    """A coarse and a fine cluster of each word, and a factor for each fine cluster and tag.

    Attributes:
        words: words that have clusters.
        tags: names of the tags.
        tag_factors: float64 (n_clusters, n_tags); p(tag | fine cluster) / p(tag) among rare words. Row 0, for
            words without a cluster, is all ones.
        clusters: int32 (n_words, 2); coarse and fine cluster of each word, numbered from 1.
    """

    words: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tag_factors: Annotated[Floats, float_array("n_clusters", "n_tags", least=0.0)]
    clusters: Annotated[Ints, int_array("n_words", 2, below="n_clusters")]

    __repr__ = one_line

    @classmethod
    def none(cls) -> WordClusters:
        """Return empty word clusters, for models that have none."""
        return cls(clusters=np.empty((0, 2), np.int32), tag_factors=np.ones((1, 0)))

    @cached_property
    def _row(self) -> Mapping[str, int]:
        return {word: row for row, word in enumerate(self.words)}

    def of(self, word: str) -> tuple[int, int]:
        """Return the coarse and fine cluster of a word or its lower-cased form; zeros if it has none."""
        row = self._row.get(word)
        if row is None:
            row = self._row.get(word.lower())
        return (0, 0) if row is None else (int(self.clusters[row, 0]), int(self.clusters[row, 1]))

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the arrays to store in a model folder, clusters and tag factors.

        ``compact`` has no effect.
        """
        return super().to_arrays()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder: words and tags."""
        return {"words": list(self.words), "tags": list(self.tags)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> WordClusters:
        """Read clusters from stored arrays and JSON values.

        Args:
            arrays: stored arrays, as `to_arrays` returns them.
            metadata: stored JSON values, as `to_json` returns them.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        names = metadata.fields(cls, "words", "tags")
        sized = arrays.part(n_words=len(names["words"]), n_tags=len(names["tags"]))
        return cls(**names, **sized.fields(cls))
