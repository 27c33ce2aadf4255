"""Word vectors, and the spelling model that computes vectors of unknown words."""

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

# A position in a sentence, relative to a word.
_Position = Annotated[int, Ge(-1000), Le(1000)]


@dataclass(frozen=True, kw_only=True, eq=False)
class Spelling:
    """Spelling model: predicts a word's vector as a linear function of hashed spelling features.

    Attributes:
        weights: float32 (2^bits, n_dimensions); weights of each feature.
        mean: float32 (n_dimensions,); intercept, added to the sum over a word's features.
    """

    weights: Annotated[NDArray[np.float32], float_array("n_features", "n_dimensions", dtype="float32")]
    mean: Annotated[NDArray[np.float32], float_array("n_dimensions", dtype="float32")]

    __repr__ = one_line

    @classmethod
    def from_arrays(cls, arrays: StoredArrays) -> Spelling:
        """Read a spelling model from stored arrays, which are the fields of this class.

        Raises:
            ModelError: a stored array is invalid.
        """
        spelling = cls(**arrays.fields(cls))
        n_features = len(spelling.weights)
        if not n_features or n_features & (n_features - 1):
            raise arrays.error("weights", f"has {n_features} rows, which is not a power of two")
        return spelling


@dataclass(frozen=True, kw_only=True, eq=False)
class WordVectors:
    """Vectors of words and of their contexts, in the same vector space.

    Attributes:
        words: vocabulary, the most frequent word first.
        counts: int64 (n_words,); frequency of each word in the training text.
        vectors: float32 (n_words, n_dimensions); vector of each word.
        singular_values: float32 (n_dimensions,), descending; canonical correlations if learned by CCA.
        contexts: context vocabulary; the empty string is the end of a sentence.
        blocks: groups of positions relative to the word; contexts at positions of one group share vectors.
            An example is ``((-1,), (1,))``.
        context_vectors: float32 (n_blocks, n_contexts, n_dimensions); vector of each context word in each
            block of positions.
        lowercase: whether words were lower-cased before counting.
        spelling: model that computes vectors of unknown words, or None.
        clusters: int32 (n_words,); cluster of each word, or None.
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
        """Return the JSON values to store in a model folder: vocabularies, blocks and lower-casing."""
        return {
            "words": list(self.words),
            "contexts": list(self.contexts),
            "blocks": self.blocks,
            "lowercase": self.lowercase,
        }

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the arrays to store in a model folder: vectors, counts, spelling weights and clusters.

        Args:
            compact: store floats as float16.
        """
        arrays = arrays_of(self)
        if self.spelling is not None:
            arrays |= with_prefix("spelling.", arrays_of(self.spelling))
        if not compact:
            return arrays
        return {name: a.astype(np.float16) if a.dtype == np.float32 else a for name, a in arrays.items()}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> WordVectors:
        """Read word vectors from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        values = metadata.fields(cls, "words", "contexts", "blocks", "lowercase")
        n_words, n_contexts, n_blocks = (len(values[name]) for name in ("words", "contexts", "blocks"))
        sized = arrays.part(n_words=n_words, n_contexts=n_contexts, n_blocks=n_blocks)
        fields = sized.fields(cls)
        width, n_singular = sized.sizes["n_dimensions"], sized.sizes["n_singular_values"]
        if n_singular != min(width, n_words):
            raise arrays.error("singular_values", f"holds {n_singular} numbers for vectors of length {width}")
        spelled = "spelling.weights" in arrays or "spelling.mean" in arrays
        spelling = arrays.part("spelling.", n_dimensions=width)
        return cls(
            **values,
            spelling=Spelling.from_arrays(spelling) if spelled else None,
            **fields,
        )
