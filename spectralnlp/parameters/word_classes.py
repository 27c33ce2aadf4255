"""Classes of words by the tags that they had in text which a tagger tagged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from spectralnlp.parameters.arrays import Ints
from spectralnlp.storage import StoredArrays, StoredValues, WithArrays, int_array


@dataclass(frozen=True, kw_only=True, eq=False)
class WordClasses(WithArrays):
    """A class for each of some words, in small letters.

    Attributes:
        words: words that have a class.
        classes: int32 (n_words,); from 1.
    """

    words: tuple[str, ...] = ()
    classes: Annotated[Ints, int_array("n_words", least=1)]

    @cached_property
    def _class_of(self) -> Mapping[str, int]:
        return dict(zip(self.words, self.classes.tolist(), strict=True))

    def of(self, words: Sequence[str]) -> Ints:
        """int32 (n_words,): the classes of words, however they are written; 0 for those without."""
        class_of = self._class_of
        return np.array([class_of.get(word.lower(), 0) for word in words], np.int32)

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model folder: names."""
        return {"words": list(self.words)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> WordClasses:
        """The classes that gave these.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        names = described.fields(cls, "words")
        return cls(**names, **arrays.part(n_words=len(names["words"])).fields(cls))
