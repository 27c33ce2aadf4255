"""Parameters of topic models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

from annotated_types import Ge

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats
from spectralnlp.storage import StoredArrays, StoredValues, WithArrays, float_array


@dataclass(frozen=True, kw_only=True, eq=False)
class TopicMixture(WithArrays):
    """Topics as distributions over words, and how documents mix them (Blei, Ng and Jordan 2003).

    Attributes:
        words: the V words.
        weights: float64 (k,), summing to one, descending; each topic's share of all text.
        topics: float64 (k, V); p(word | topic), rows sum to one.
        frequencies: float64 (V,), summing to one; relative frequencies of words in the training text.
        alpha0: concentration α0 of the Dirichlet prior of documents' mixtures, α = α0 · weights; if 0, each
            document has a single topic.
    """

    words: tuple[str, ...]
    weights: Annotated[Floats, float_array("n_topics", least=0.0)]
    topics: Annotated[Floats, float_array("n_topics", "n_words", least=0.0)]
    frequencies: Annotated[Floats, float_array("n_words", least=0.0)]
    alpha0: Annotated[float, Ge(0)]

    __repr__ = one_line

    @cached_property
    def word_index(self) -> Mapping[str, int]:
        """Mapping from each word to its index in ``words``."""
        return {word: index for index, word in enumerate(self.words)}

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder: words and α0."""
        return {"words": self.words, "alpha0": self.alpha0}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, metadata: StoredValues) -> TopicMixture:
        """Read topics from the arrays and JSON values that `to_arrays` and `to_json` returned.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        values = metadata.fields(cls, "words", "alpha0")
        return cls(**values, **arrays.part(n_words=len(values["words"])).fields(cls))
