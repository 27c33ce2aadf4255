"""Lexicons: the tags of words, with a vector over the states of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints, Offsets, offsets_of
from spectralnlp.storage import (
    Arrays,
    StoredArrays,
    StoredValues,
    arrays_of,
    float_array,
    int_array,
    offset_array,
    specs_of,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Lexicon:
    """The tags that a token may have, with a vector over each tag's states.

    Entries are the known words, then the signatures of unknown words; the last signature is
    the one of last resort. Vectors hold p(word | tag, state) / p(word), so a
    sentence's probability also takes the sum of ``log_weight``.

    Attributes:
        words: known words; entry w is ``words[w]``.
        signatures: entry ``len(words) + s`` is ``signatures[s]``.
        scheme: name of the function that gives a word its signature.
        starts: int64 (n_entries + 1,); entry e holds rows ``starts[e]:starts[e + 1]``.
        tags: int32 (n_rows,); a symbol each, ascending within an entry.
        offsets: int64 (n_rows + 1,) into ``values``; not stored, for it follows from ``tags``.
        values: float64.
        backoff: float64 (n_words,); a tag never seen with the word gets this much of the vector
            that the word's signature has for it.
        word_signature: int32 (n_words,); index into ``signatures``.
        log_weight: float64 (n_entries,); log p(word), natural.
    """

    words: tuple[str, ...]
    signatures: tuple[str, ...]
    scheme: str
    starts: Annotated[Offsets, offset_array("n_entries + 1", into="n_rows")]
    tags: Annotated[Ints, int_array("n_rows", below="n_symbols", ascending_within="starts")]
    offsets: Offsets
    values: Annotated[Floats, float_array("n_values", scaled=True)]
    backoff: Annotated[Floats, float_array("n_words", least=0.0)]
    word_signature: Annotated[Ints, int_array("n_words", below="n_signatures")]
    log_weight: Annotated[Floats, float_array("n_entries")]

    __repr__ = one_line

    @cached_property
    def word_index(self) -> Mapping[str, int]:
        """Entry of each known word."""
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def signature_index(self) -> Mapping[str, int]:
        """Position in ``signatures`` of each signature."""
        return {signature: index for index, signature in enumerate(self.signatures)}

    def finds_as(self, other: Lexicon) -> bool:
        """Whether another lexicon has the same entries for all words, whatever it knows about them."""
        return (
            (self.scheme, self.words, self.signatures) == (other.scheme, other.words, other.signatures)
            and np.array_equal(self.word_signature, other.word_signature)
            and np.array_equal(self.backoff, other.backoff)
            and np.array_equal(self.log_weight, other.log_weight)
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a folder: words and signatures."""
        return {"words": self.words, "signatures": self.signatures, "scheme": self.scheme}

    def common_arrays(self) -> Arrays:
        """All stored arrays but ``values``: models of the same text have them in common."""
        arrays = arrays_of(self)
        del arrays["values"]
        return arrays

    @classmethod
    def common_fields(cls, arrays: StoredArrays, described: StoredValues) -> dict[str, Any]:
        """The fields that lexicons learned from the same text have in common.

        Args:
            arrays: of `common_arrays`; the size ``n_symbols`` is known.
            described: of `to_json`.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        values = described.fields(cls, "words", "signatures", "scheme")
        n_words, n_signatures = len(values["words"]), len(values["signatures"])
        n_entries = n_words + n_signatures
        if not n_signatures:
            raise described.error("signatures", "is empty: words that were never seen have none")
        sized = arrays.part(n_words=n_words, n_signatures=n_signatures, n_entries=n_entries)
        fields = sized.fields(cls, leave_out=("values",))
        return {**values, **fields}

    @classmethod
    def with_values(cls, common: Mapping[str, Any], widths: Ints, arrays: StoredArrays, name: str) -> Lexicon:
        """The lexicon of one of several models.

        Args:
            common: of `common_fields`.
            widths: int32 (n_symbols,); numbers in the vectors of each tag.
            arrays: of the model.
            name: of the values among them.

        Raises:
            ModelError: the values are not as they must be.
        """
        offsets = offsets_of(widths[common["tags"]])
        values = arrays.part(n_values=int(offsets[-1])).take(name, specs_of(cls)["values"])
        return cls(offsets=offsets, values=values, **common)
