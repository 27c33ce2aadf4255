"""Lexicons: the possible tags of each word, with a vector over the states of each tag."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from spectralnlp.display import one_line
from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.runtime import offsets_of
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
    """The possible tags of each word, with a vector over each tag's states.

    Entries are the known words, then the signatures (spelling classes) of unknown words. The last signature
    is for unknown words to which no other signature applies. Vectors hold p(word | tag, state) / p(word), so
    the log probability of a sentence includes the sum of ``log_weight`` over its words.

    Attributes:
        words: known words; entry w is ``words[w]``.
        signatures: signatures of unknown words; entry ``len(words) + s`` is ``signatures[s]``.
        scheme: name of the function that computes signatures.
        starts: int64 (n_entries + 1,); entry e has rows ``starts[e]:starts[e + 1]``.
        tags: int32 (n_rows,); symbol of each row's tag, ascending within an entry.
        offsets: int64 (n_rows + 1,); row r has the vector ``values[offsets[r]:offsets[r + 1]]``. Not stored,
            because it follows from ``tags``.
        values: float64; the vectors of all rows, concatenated.
        backoff: float64 (n_words,); the vector of a word for a tag never seen with it is the vector of the
            word's signature for that tag, times this factor.
        word_signature: int32 (n_words,); each word's index into ``signatures``.
        log_weight: float64 (n_entries,); natural logarithm of p(word).
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
        """Mapping from known words to the indices of their entries."""
        return {word: index for index, word in enumerate(self.words)}

    @cached_property
    def signature_index(self) -> Mapping[str, int]:
        """Mapping from signatures (spelling classes of unknown words) to their indices in ``signatures``."""
        return {signature: index for index, signature in enumerate(self.signatures)}

    def has_same_entries(self, other: Lexicon) -> bool:
        """Whether another lexicon has the same entries and weights for all words; vectors may differ."""
        return (
            (self.scheme, self.words, self.signatures) == (other.scheme, other.words, other.signatures)
            and np.array_equal(self.word_signature, other.word_signature)
            and np.array_equal(self.backoff, other.backoff)
            and np.array_equal(self.log_weight, other.log_weight)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the JSON values to store in a model folder: words, signatures and their scheme."""
        return {"words": self.words, "signatures": self.signatures, "scheme": self.scheme}

    def common_arrays(self) -> Arrays:
        """Return all stored arrays except ``values``, which differ between models of the same data."""
        arrays = arrays_of(self)
        del arrays["values"]
        return arrays

    @classmethod
    def common_fields(cls, arrays: StoredArrays, metadata: StoredValues) -> dict[str, Any]:
        """Read all fields of a lexicon except the vectors, which differ between models of the same data.

        Args:
            arrays: stored arrays, as `common_arrays` returns them; ``arrays.sizes`` must contain
                ``n_symbols``.
            metadata: stored JSON values, as `to_json` returns them.

        Raises:
            ModelError: a stored array or value is invalid.
        """
        values = metadata.fields(cls, "words", "signatures", "scheme")
        n_words, n_signatures = len(values["words"]), len(values["signatures"])
        n_entries = n_words + n_signatures
        if not n_signatures:
            raise metadata.error("signatures", "is empty: unknown words would have no signature")
        sized = arrays.part(n_words=n_words, n_signatures=n_signatures, n_entries=n_entries)
        fields = sized.fields(cls, leave_out=("values",))
        return {**values, **fields}

    @classmethod
    def with_values(cls, common: Mapping[str, Any], widths: Ints, arrays: StoredArrays, name: str) -> Lexicon:
        """Return the lexicon of one model: the fields that models share, and the model's stored vectors.

        Args:
            common: shared fields, as `common_fields` returns them.
            widths: int32 (n_symbols,); length of each tag's vectors in this model.
            arrays: stored arrays of this model.
            name: name of the lexicon's ``values`` in ``arrays``.

        Raises:
            ModelError: the stored values are invalid.
        """
        offsets = offsets_of(widths[common["tags"]])
        values = arrays.part(n_values=int(offsets[-1])).take(name, specs_of(cls)["values"])
        return cls(offsets=offsets, values=values, **common)
