"""Clusters of words from unlabelled text: k-means of eigenwords, few clusters and many."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spectralnlp.errors import ModelError
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import Ints, WordVectors
from spectralnlp.storage import load_model

# Clusters of the coarse and of the fine kind, as far as there are words.
N_CLUSTERS = (32, 512)


@dataclass(frozen=True)
class WordClusters:
    """A coarse and a fine cluster of each word.

    Attributes:
        words: the words.
        clusters: int32 (n_words, 2); from 1.
    """

    words: tuple[str, ...]
    clusters: Ints

    @classmethod
    def none(cls) -> WordClusters:
        """No clusters at all."""
        return cls((), np.empty((0, 2), np.int32))

    @classmethod
    def of(cls, vectors: WordVectors, random_state: int) -> WordClusters:
        """Cluster the directions of vectors."""
        points = vectors.vectors.astype(np.float64)
        points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
        columns = [kmeans(points, min(k, len(points)), random_state=random_state)[0] + 1 for k in N_CLUSTERS]
        return cls(vectors.words, np.stack(columns, axis=1).astype(np.int32))

    @classmethod
    def load(cls, folder: str, random_state: int) -> WordClusters:
        """Cluster the vectors of a folder.

        Raises:
            ModelError: it holds no model, or none of words.
        """
        stored = load_model(folder)
        if stored.kind != "vectors":
            hint = "give a folder made by `spectralnlp train eigenwords`"
            raise ModelError(f"a model for {stored.kind}, not of words", path=folder, hint=hint)
        try:
            return cls.of(WordVectors.from_arrays(stored.checked, stored.metadata), random_state)
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"truncated: {error!r}", path=folder, hint="train it again") from error
