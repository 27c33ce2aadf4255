"""Linear models with hashed features and a decision threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import to_half_precision
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, arrays_of, float_array


@dataclass(frozen=True, kw_only=True, eq=False)
class HashedModel:
    """Linear model with hashed features and a decision threshold.

    Attributes:
        weights: float32 (a power of two,); the weight of feature f is ``weights[f % len(weights)]``.
        threshold: value of the model's output above which the decision is positive.
    """

    weights: Annotated[NDArray[np.float32], float_array("n_weights", dtype="float32", scaled=True)]
    threshold: float

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder: the threshold."""
        return {"threshold": self.threshold}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the array to store in a model folder: the weights.

        Args:
            compact: store the weights as float16 rounded to seven significant bits.
        """
        return to_half_precision("weights", self.weights) if compact else arrays_of(self)

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> Self:
        """Read a model from stored arrays and JSON values.

        Args:
            arrays: stored arrays, as `to_arrays` returns them.
            metadata: stored JSON values, as `to_json` returns them.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        model = cls(**metadata.fields(cls, "threshold"), **arrays.fields(cls))
        size = len(model.weights)
        if size == 0 or size & (size - 1):
            raise arrays.error("weights", f"holds {size} numbers, which is not a power of two")
        return model


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel(HashedModel):
    """Conditional random field over unlabelled binary bracketings, with hashed features.

    Attributes:
        weights: float32 (a power of two,); the weight of feature f is ``weights[f % len(weights)]``.
        threshold: marginal probability below which the parser does not consider a span, unless it finds no
            parse otherwise.
    """

    __repr__ = one_line


@dataclass(frozen=True, kw_only=True, eq=False)
class SentenceEndModel(HashedModel):
    """Logistic model of sentence ends in raw text; see :mod:`spectralnlp.inference.sentences`.

    Attributes:
        weights: float32 (a power of two,); weights of the features of a gap between tokens.
        threshold: minimum log-odds of a sentence end.
    """

    __repr__ = one_line
