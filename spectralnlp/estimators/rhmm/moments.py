"""Collect the training data of refinement HMMs: the tokens of tagged sentences, as integer arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import unpack_names
from spectralnlp.text.tag_log import TagLog


@dataclass(frozen=True, kw_only=True)
class TagTable:
    """Tokens of tagged sentences, one after the other, as integer arrays.

    Attributes:
        tags: names of the tags, sorted.
        words: word types, sorted.
        tag, word: int32 (n_tokens,); tag and word type of each token.
        sentence: int32 (n_tokens,), ascending; index of each token's sentence.
        weight: float64 (n_tokens,); weight of each token's sentence; `of` sets all weights to 1.
    """

    tags: tuple[str, ...]
    words: tuple[str, ...]
    tag: Ints
    word: Ints
    sentence: Ints
    weight: Floats

    @classmethod
    def of(cls, log: TagLog) -> Self:
        """Build a table of all tokens of a log of tagged sentences, in order; empty sentences are skipped."""
        arrays = log.arrays()
        sizes = arrays["places"][:, 2]
        sizes = sizes[sizes > 0]
        return cls(
            tags=tuple(unpack_names(arrays["tags"])),
            words=tuple(unpack_names(arrays["words"])),
            tag=arrays["tag"],
            word=arrays["word"],
            sentence=np.repeat(np.arange(len(sizes), dtype=np.int32), sizes),
            weight=np.ones(len(arrays["tag"])),
        )

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return len(self.tag)

    @property
    def nodes(self) -> Nodes:
        """The tokens in the form of tree nodes, with tags as symbols, for code shared with tree grammars."""
        return Nodes(self.tag, self.weight, len(self.tags))

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether each token is the first of its sentence, bool (n_tokens,)."""
        return np.append(True, self.sentence[1:] != self.sentence[:-1])[: self.n_tokens]

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether each token is the last of its sentence, bool (n_tokens,)."""
        return np.append(self.sentence[1:] != self.sentence[:-1], True)[: self.n_tokens]
