"""Features of words that were learned from unlabelled text: word vectors and word clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.inference.words.lookup import VectorLookup
from spectralnlp.parameters import WordVectors
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, with_prefix

# Prefix of the names of arrays in model folders.
_STORED_AS = "evidence"


@dataclass(frozen=True)
class UnlabelledFeatures:
    """Word vectors and word clusters, from one or more sources.

    Attributes:
        sources: sources of vectors, which are concatenated; the first also gives the clusters.
    """

    sources: tuple[VectorLookup, ...] = ()

    __repr__ = one_line

    @property
    def word_width(self) -> int:
        """Length of a word's vector, concatenated over the sources."""
        return sum(source.dimensions for source in self.sources)

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of words, float32 (n_words, word_width)."""
        rows = [source.vectors(words) for source in self.sources]
        return np.hstack([np.zeros((len(words), 0), np.float32), *rows])

    def word_clusters(self, words: Sequence[str]) -> NDArray[np.int32]:
        """Return the cluster ids of words, int32 (n_words,); -1 for words without a cluster."""
        return self.sources[0].clusters(words) if self.sources else np.full(len(words), -1, np.int32)

    def to_json(self) -> dict[str, Any]:
        """Return the vocabulary and settings of each source as JSON values, to store in a model folder."""
        return {"sources": [source.parameters.to_json() for source in self.sources]}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the word vectors and clusters of each source as named arrays, to store in a model folder.

        Args:
            compact: whether to store vectors as float16.
        """
        arrays: Arrays = {}
        for i, source in enumerate(self.sources):
            arrays |= with_prefix(f"{_STORED_AS}.{i}.", source.parameters.to_arrays(compact=compact))
        return arrays

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> UnlabelledFeatures:
        """Read the features from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Raises:
            ModelError: an array or a value is missing or invalid.
        """
        parts = enumerate(metadata.parts("sources"))
        vectors = [WordVectors.from_arrays(arrays.part(f"{_STORED_AS}.{i}."), each) for i, each in parts]
        return cls(tuple(VectorLookup(each) for each in vectors))
