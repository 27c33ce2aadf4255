"""A layer of hidden units between the features of words around a token and the scores of its tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters.arrays import Ints
from spectralnlp.storage import Arrays, StoredArrays, WithArrays, float_array, int_array

Floats32 = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class HiddenLayer(WithArrays):
    """Scores of tags that are not linear in what is seen around a token.

    Units are max(0, bias + Σ rows); they give scores to fine tags, outputsᵀ units + fine_bias, and a tag has
    the largest score of its fine tags.

    Attributes:
        keys: uint32 (n_hidden_features,), ascending; hashes of features, those of a word in a place.
        features: float32 (n_hidden_features, h).
        words: float32 (n_offsets, k, h); of the vectors of the words around.
        bias: float32 (h,).
        outputs: float32 (h, n_fine).
        fine_bias: float32 (n_fine,).
        tag_of: int32 (n_fine,); the tag of each fine tag; every tag has one.
    """

    keys: Annotated[NDArray[np.uint32], int_array("n_hidden_features", dtype="uint32", ascending=True)]
    features: Annotated[Floats32, float_array("n_hidden_features", "n_hidden", dtype="float32")]
    words: Annotated[Floats32, float_array("n_offsets", "n_word_numbers", "n_hidden", dtype="float32")]
    bias: Annotated[Floats32, float_array("n_hidden", dtype="float32")]
    outputs: Annotated[Floats32, float_array("n_hidden", "n_fine", dtype="float32")]
    fine_bias: Annotated[Floats32, float_array("n_fine", dtype="float32")]
    tag_of: Annotated[Ints, int_array("n_fine", below="n_tags")]

    @property
    def n_hidden(self) -> int:
        """How many hidden units there are."""
        return len(self.bias)

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of a model folder; ``compact`` with rows of features and vectors in half precision."""
        arrays = super().to_arrays()
        if compact:
            arrays |= {name: arrays[name].astype(np.float16) for name in ("features", "words")}
        return arrays

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, n_hidden: int) -> HiddenLayer:
        """The layer that gave these.

        Raises:
            ModelError: an array is not as it must be.
        """
        layer = cls(**arrays.part(n_hidden=n_hidden).fields(cls))
        if len(np.unique(layer.tag_of)) < arrays.sizes["n_tags"]:
            raise arrays.error("tag_of", "leaves out a tag")
        return layer
