"""Span scorers: what a log-linear model of the labels of spans has learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints, few_bits
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, arrays_of, float_array, int_array


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanScorer:
    """Weights of hashed features of the labels of spans; see :mod:`spectralnlp.inference.trees.rescoring`.

    Attributes:
        templates: the values that each feature takes together, by name, ``word_first tag_before``.
        phrases, tags: labels that have a head, and tags of heads.
        features: int32 (n_features,); buckets of features, ascending.
        weights: float32 (n_features,).
        number_weights: float64 (n_numbers,); of the real numbers that describe an option.
        head_score: float32 (n_phrases, n_tags); how good tags are as heads of phrases.
        head_is_last: int8 (n_phrases, n_tags); 1 where of several such tags the last is the head.
    """

    templates: tuple[str, ...]
    phrases: tuple[str, ...]
    tags: tuple[str, ...]
    features: Annotated[Ints, int_array("n_features", below="n_buckets", ascending=True)]
    weights: Annotated[NDArray[np.float32], float_array("n_features", dtype="float32")]
    number_weights: Annotated[Floats, float_array("n_numbers")]
    head_score: Annotated[NDArray[np.float32], float_array("n_phrases", "n_tags", dtype="float32")]
    head_is_last: Annotated[NDArray[np.int8], int_array("n_phrases", "n_tags", dtype="int8")]

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder: names."""
        names = ("templates", "phrases", "tags")
        return {name: list(getattr(self, name)) for name in names}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of a model folder; ``compact`` with weights as float16."""
        arrays = arrays_of(self)
        if compact:
            arrays["weights"] = few_bits(self.weights)
            arrays["head_score"] = self.head_score.astype(np.float16)
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: StoredArrays, described: StoredValues, n_buckets: int, n_numbers: int
    ) -> SpanScorer:
        """The scorer that gave these.

        Args:
            arrays: of `to_arrays`.
            described: of `to_json`.
            n_buckets: that features are hashed into.
            n_numbers: that describe an option; the last ones weigh nothing in scorers that did not know them.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        names = described.fields(cls, "templates", "phrases", "tags")
        sized = arrays.part(
            n_buckets=n_buckets,
            n_phrases=len(names["phrases"]),
            n_tags=len(names["tags"]),
        )
        fields = sized.fields(cls)
        known = len(fields["number_weights"])
        if known > n_numbers:
            raise sized.error("number_weights", f"has {known} numbers, not {n_numbers} at most")
        fields["number_weights"] = np.pad(fields["number_weights"], (0, n_numbers - known))
        return cls(**names, **fields)
