"""Parameters of span scorers, log-linear models of the labels of spans."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.errors import InputError
from spectralnlp.parameters.arrays import Floats, Ints, round_to_seven_bits
from spectralnlp.storage import (
    Arrays,
    StoredArrays,
    StoredValues,
    arrays_of,
    float_array,
    int_array,
    with_prefix,
)
from spectralnlp.text.annotations import Annotations

_PART = "annotated"  # name of the stored scorer within a scorer


@dataclass(frozen=True)
class AnnotationScheme:
    """The labels of dependencies and the tags of the annotations that a span scorer was trained with.

    Attributes:
        name: the pipeline that made the annotations, or the file that they came from.
        labels, tags: all relations and parts of speech, sorted.
    """

    name: str
    labels: tuple[str, ...]
    tags: tuple[str, ...]

    __repr__ = one_line

    @cached_property
    def _known(self) -> tuple[frozenset[str], frozenset[str]]:
        return frozenset(self.labels), frozenset(self.tags)

    def unknown(self, annotations: Annotations) -> list[str]:
        """Return the labels and tags of a sentence's annotations that are not in this scheme, sorted."""
        labels, tags = self._known
        return sorted(set(annotations.labels) - labels) + sorted(set(annotations.tags) - tags)

    def check(self, annotations: Annotations) -> None:
        """Check that all labels and tags of a sentence's annotations are in this scheme.

        Raises:
            InputError: one is not.
        """
        if unknown := self.unknown(annotations):
            what = f"the annotations have {unknown[0]!r}, unlike those of {self.name} in training"
            raise InputError(what, hint=f"annotate with {self.name}, or leave the annotations out")

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON values."""
        return {"name": self.name, "labels": list(self.labels), "tags": list(self.tags)}


@dataclass(frozen=True, kw_only=True, eq=False)
class SpanScorer:
    """Weights of a log-linear model of span labels; see :mod:`spectralnlp.inference.trees.rescoring`.

    Attributes:
        templates: feature templates; each names the values that a feature combines, such as
            ``word_first tag_before``.
        phrases, tags: labels of phrases that have a head, and tags of heads.
        features: int32 (n_features,); hash buckets of the features that have a weight, ascending.
        weights: float32 (n_features,); weight of each feature in ``features``.
        number_weights: float64 (n_numbers,); weights of the real-valued features of a candidate label.
        head_score: float32 (n_phrases, n_tags); score of each tag as the head of each phrase.
        head_is_last: int8 (n_phrases, n_tags); 1 if the last of several tokens with
            this tag is the head of the phrase, 0 if the first is.
        scheme: labels and tags of the annotations that the scorer was trained with; None for a scorer of
            sentences without annotations.
        annotated: another scorer, for sentences with annotations; None if there were none in training.
    """

    templates: tuple[str, ...]
    phrases: tuple[str, ...]
    tags: tuple[str, ...]
    features: Annotated[Ints, int_array("n_features", below="n_buckets", ascending=True)]
    weights: Annotated[NDArray[np.float32], float_array("n_features", dtype="float32")]
    number_weights: Annotated[Floats, float_array("n_numbers")]
    head_score: Annotated[NDArray[np.float32], float_array("n_phrases", "n_tags", dtype="float32")]
    head_is_last: Annotated[NDArray[np.int8], int_array("n_phrases", "n_tags", dtype="int8")]
    scheme: AnnotationScheme | None = None
    annotated: SpanScorer | None = None

    __repr__ = one_line

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder, without those of arrays."""
        names = ("templates", "phrases", "tags")
        values: dict[str, Any] = {name: list(getattr(self, name)) for name in names}
        if self.scheme is not None:
            values["scheme"] = self.scheme.to_json()
        if self.annotated is not None:
            values[_PART] = self.annotated.to_json()
        return values

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """Return the arrays to store in a model folder: features, weights and head scores; see the class.

        Args:
            compact: store weights as float16.
        """
        arrays = arrays_of(self)
        if compact:
            arrays["weights"] = round_to_seven_bits(self.weights)
            arrays["head_score"] = self.head_score.astype(np.float16)
        if self.annotated is not None:
            arrays |= with_prefix(f"{_PART}.", self.annotated.to_arrays(compact=compact))
        return arrays

    @classmethod
    def from_arrays(
        cls, arrays: StoredArrays, metadata: StoredValues, n_buckets: int, n_numbers: int
    ) -> SpanScorer:
        """Read a scorer from stored arrays and JSON values.

        Args:
            arrays: stored arrays, as `to_arrays` returns them.
            metadata: stored JSON values, as `to_json` returns them.
            n_buckets: number of hash buckets.
            n_numbers: number of real-valued features; a scorer stored with fewer gets zero weights for the
                last ones.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        names = metadata.fields(cls, "templates", "phrases", "tags")
        names["scheme"] = metadata.take("scheme", AnnotationScheme | None, None)
        if _PART in metadata:
            sizes = {"n_buckets": n_buckets, "n_numbers": n_numbers}
            names[_PART] = cls.from_arrays(arrays.part(f"{_PART}."), metadata.part(_PART), **sizes)
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
