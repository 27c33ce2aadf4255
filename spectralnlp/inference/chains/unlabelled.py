"""Features from unlabelled text: vectors of words, and clusters of words."""

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

# The beginning of the names of arrays in model folders.
_STORED_AS = "evidence"


@dataclass(frozen=True)
class UnlabelledFeatures:
    """Vectors and clusters of words.

    Attributes:
        sources: any number of kinds of vectors; the first has clusters.
    """

    sources: tuple[VectorLookup, ...] = ()

    __repr__ = one_line

    @property
    def word_width(self) -> int:
        """Length of a word's vector, of all kinds side by side."""
        return sum(source.dimensions for source in self.sources)

    def word_vectors(self, words: Sequence[str]) -> NDArray[np.float32]:
        """float32 (n_words, word_width)."""
        rows = [source.vectors(words) for source in self.sources]
        return np.hstack([np.zeros((len(words), 0), np.float32), *rows])

    def word_clusters(self, words: Sequence[str]) -> NDArray[np.int32]:
        """int32 (n_words,); -1 for words without."""
        return self.sources[0].clusters(words) if self.sources else np.full(len(words), -1, np.int32)

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model that carries these vectors with it."""
        return {"sources": [source.parameters.to_json() for source in self.sources]}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of such a model.

        Args:
            compact: vectors in half precision.
        """
        arrays: Arrays = {}
        for i, source in enumerate(self.sources):
            arrays |= with_prefix(f"{_STORED_AS}.{i}.", source.parameters.to_arrays(compact=compact))
        return arrays

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> UnlabelledFeatures:
        """The vectors that gave these.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        parts = enumerate(described.parts("sources"))
        vectors = [WordVectors.from_arrays(arrays.part(f"{_STORED_AS}.{i}."), each) for i, each in parts]
        return cls(tuple(VectorLookup(each) for each in vectors))
