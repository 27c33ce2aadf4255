"""Look up vectors of words and bigrams in `Vectors`, a mapping, or gensim's KeyedVectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp_sketch.errors import MatrixError, SizeError

Floats = NDArray[Any]


class Lookup:
    """Lookup of word vectors in `spectralnlp.models.Vectors`, a mapping, or gensim's KeyedVectors.

    Words without a vector are left out.

    Args:
        vectors: `Vectors`, or another object whose method ``vectors(words)`` returns an array (n, D), with
            zeros for unknown words; or an object that supports ``word in vectors`` and ``vectors[word]``.

    Raises:
        SizeError: the object supports neither, or holds no words.
    """

    def __init__(self, vectors: Any) -> None:
        self._many = getattr(vectors, "vectors", None) if not isinstance(vectors, Mapping) else None
        if not callable(self._many) and not hasattr(vectors, "__getitem__"):
            kind = type(vectors).__name__
            raise SizeError(f"vectors must be word vectors or a mapping from words to arrays, not {kind}")
        self._vectors = vectors
        self._known: dict[str, Floats | None] = {}
        self.size = self._size()

    def _size(self) -> int:
        for name in ("dimensions", "vector_size"):
            if hasattr(self._vectors, name):
                return int(getattr(self._vectors, name))
        first = next(iter(self._vectors), None)
        if first is None:
            raise SizeError("vectors holds no words")
        return len(self._vectors[first])

    def rows(self, tokens: Sequence[str], bigrams: bool = False) -> Floats:
        """Return the vectors of tokens (n, D), without tokens that have no vector.

        Args:
            tokens: words to look up, in the order of the text.
            bigrams: whether to append a vector for each pair of adjacent tokens: that of a bigram such as
                ``new_york`` if there is one, else the mean of the tokens' vectors (Su, Lin and Kuo 2019,
                section 4.3.1).
        """
        rows = [vector for vector in map(self._find, tokens) if vector is not None]
        if bigrams:
            rows += [each for pair in pairwise(tokens) if (each := self._find_bigram(*pair)) is not None]
        return np.stack(rows) if rows else np.empty((0, self.size))

    def _find(self, word: str) -> Floats | None:
        if word not in self._known:
            vector: Floats | None = None
            if callable(self._many):
                vector = np.asarray(self._many([word])[0])
                vector = vector if vector.any() else None
            elif word in self._vectors:
                vector = np.asarray(self._vectors[word])
            if vector is not None and vector.shape != (self.size,):
                raise MatrixError(f"the vector of {word!r} has {vector.size} numbers, others {self.size}")
            self._known[word] = vector
        return self._known[word]

    def _find_bigram(self, left: str, right: str) -> Floats | None:
        joined = f"{left}_{right}"
        if joined in self._vectors:
            return self._find(joined)
        both = [each for each in (self._find(left), self._find(right)) if each is not None]
        return np.mean(both, axis=0) if both else None
