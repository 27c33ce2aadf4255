"""Weights of hashed features, and a threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import in_half
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, arrays_of, float_array


@dataclass(frozen=True, kw_only=True, eq=False)
class HashedModel:
    """A linear model of hashed features, which decides by a threshold.

    Attributes:
        weights: float32 (a power of two,); feature f has ``weights[f % len(weights)]``.
        threshold: of what is decided by.
    """

    weights: Annotated[NDArray[np.float32], float_array("n_weights", dtype="float32", scaled=True)]
    threshold: float

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder."""
        return {"threshold": self.threshold}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of a model folder.

        Args:
            compact: store the weights as float16, of half the size and seven bits.
        """
        return in_half("weights", self.weights) if compact else arrays_of(self)

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> Self:
        """The model that gave these.

        Args:
            arrays: of `to_arrays`.
            described: of `to_json`.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        model = cls(**described.fields(cls, "threshold"), **arrays.fields(cls))
        size = len(model.weights)
        if size == 0 or size & (size - 1):
            raise arrays.error("weights", f"holds {size} numbers, which is no power of two")
        return model


@dataclass(frozen=True, kw_only=True, eq=False)
class SentenceEndModel(HashedModel):
    """A logistic model of sentence ends in raw text; see :mod:`spectralnlp.inference.sentences`.

    Attributes:
        weights: float32 (a power of two,); of the features of a gap between tokens.
        threshold: log-odds from which a sentence ends.
    """

    __repr__ = one_line
