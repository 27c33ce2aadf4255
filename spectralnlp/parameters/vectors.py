"""Vectors of words, and of words that were never seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Ints, Offsets
from spectralnlp.storage import (
    Arrays,
    StoredArrays,
    StoredValues,
    arrays_of,
    float_array,
    int_array,
    with_prefix,
)

# A place in a sentence, relative to a word.
_Position = Annotated[int, Ge(-1000), Le(1000)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Spelling:
    """Vectors of words from how they are written: a linear function of hashed features.

    Attributes:
        weights: float32 (2^bits, n_dimensions); a word's vector is the sum over its features.
        mean: float32 (n_dimensions,); added to it.
    """

    weights: Annotated[NDArray[np.float32], float_array("n_features", "n_dimensions", dtype="float32")]
    mean: Annotated[NDArray[np.float32], float_array("n_dimensions", dtype="float32")]

    __repr__ = one_line

    @classmethod
    def from_arrays(cls, arrays: StoredArrays) -> Spelling:
        """The model of spelling that gave these.

        Raises:
            ModelError: an array is not as it must be.
        """
        spelling = cls(**arrays.fields(cls))
        n_features = len(spelling.weights)
        if not n_features or n_features & (n_features - 1):
            raise arrays.error("weights", f"has {n_features} rows, which is not a power of two")
        return spelling


@dataclass(frozen=True, kw_only=True, eq=False)
class WordVectors:
    """Words and their contexts as points of one space.

    Attributes:
        words: the vocabulary, the most frequent first.
        counts: int64 (n_words,).
        vectors: float32 (n_words, n_dimensions).
        singular_values: float32 (n_dimensions,), descending; canonical correlations if the variant was CCA.
        contexts: words that can be contexts; the empty one is the end of a sentence.
        blocks: groups of positions relative to the word whose contexts share vectors, ``((-1,), (1,))``.
        context_vectors: float32 (n_blocks, n_contexts, n_dimensions).
        lowercase: whether words were counted in small letters.
        spelling: makes vectors of other words; None if there is none.
        clusters: int32 (n_words,); None if there are none.
    """

    words: tuple[str, ...]
    counts: Annotated[Offsets, int_array("n_words", dtype="int64")]
    vectors: Annotated[NDArray[np.float32], float_array("n_words", "n_dimensions", dtype="float32")]
    singular_values: Annotated[NDArray[np.float32], float_array("n_singular_values", dtype="float32")]
    contexts: tuple[str, ...] = ()
    blocks: tuple[tuple[_Position, ...], ...] = ()
    context_vectors: Annotated[
        NDArray[np.float32] | None, float_array("n_blocks", "n_contexts", "n_dimensions", dtype="float32")
    ] = None
    lowercase: bool = False
    spelling: Spelling | None = None
    clusters: Annotated[Ints | None, int_array("n_words")] = None

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder."""
        return {
            "words": list(self.words),
            "contexts": list(self.contexts),
            "blocks": self.blocks,
            "lowercase": self.lowercase,
        }

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of a model folder, or of a part of one.

        Args:
            compact: floats in half precision.
        """
        arrays = arrays_of(self)
        if self.spelling is not None:
            arrays |= with_prefix("spelling.", arrays_of(self.spelling))
        if not compact:
            return arrays
        return {name: a.astype(np.float16) if a.dtype == np.float32 else a for name, a in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> WordVectors:
        """The vectors that gave these.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        values = described.fields(cls, "words", "contexts", "blocks", "lowercase")
        n_words, n_contexts, n_blocks = (len(values[name]) for name in ("words", "contexts", "blocks"))
        sized = arrays.part(n_words=n_words, n_contexts=n_contexts, n_blocks=n_blocks)
        fields = sized.fields(cls)
        width, n_singular = sized.sizes["n_dimensions"], sized.sizes["n_singular_values"]
        if n_singular != min(width, n_words):
            raise arrays.error("singular_values", f"holds {n_singular} numbers, the vectors have {width}")
        spelled = "spelling.weights" in arrays or "spelling.mean" in arrays
        spelling = arrays.part("spelling.", n_dimensions=width)
        return cls(
            **values,
            spelling=Spelling.from_arrays(spelling) if spelled else None,
            **fields,
        )
