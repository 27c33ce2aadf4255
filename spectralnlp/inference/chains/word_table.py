"""Words as numbers, with all that is known of each: its forms, vectors and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.unlabelled import Evidence
from spectralnlp.inference.chains.word_forms import FORMS, Hashes, form_hashes

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

EDGE, BEYOND = 0, 1
"""Numbers of what is not a word: the place next to a sentence, and the one after that."""


@dataclass(frozen=True)
class Encoded:
    """Sentences as numbers.

    Attributes:
        types: int32 (n_tokens + 4 · n_sentences,); each sentence between `BEYOND`, `EDGE` and the same again.
        starts: int64 (n_sentences + 1,); of sentences among tokens, without those places.
        vectors: float32 (n_tokens, token_width); eigentokens.
    """

    types: Ints
    starts: Offsets
    vectors: NDArray[np.float32]

    @property
    def places(self) -> NDArray[np.int64]:
        """int64 (n_tokens,): where tokens stand in ``types``."""
        sentence = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return np.arange(int(self.starts[-1])) + 4 * sentence + 2


class WordTable:
    """Numbers words as they come.

    Args:
        evidence: vectors and clusters of words.

    Attributes:
        hashes: uint64 (n_words, n_forms).
        vectors: float32 (n_words, word_width).
        clusters: int32 (n_words, n_clusterings).
        places: int32 (n_words, n_eigentokens).
    """

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self._index: dict[str, int] = {}
        self.hashes: Hashes = np.zeros((2, len(FORMS)), np.uint64)
        self.hashes[:, 0] = EDGE + 1, BEYOND + 1
        self.vectors = np.zeros((2, evidence.word_width), np.float32)
        self.clusters: Ints = np.full((2, len(evidence.clusters)), -1, np.int32)
        self.places = np.concatenate([evidence.context_places([""]), np.full_like(
            evidence.context_places([""]), -1)])  # fmt: skip

    def __len__(self) -> int:
        return len(self.hashes)

    def add(self, words: Sequence[str]) -> None:
        """Give numbers to words that have none."""
        new = [word for word in dict.fromkeys(words) if word not in self._index]
        if not new:
            return
        self._index |= {word: number for number, word in enumerate(new, len(self))}
        self.hashes = np.concatenate([self.hashes, form_hashes(new)])
        self.vectors = np.concatenate([self.vectors, self.evidence.word_vectors(new)])
        self.clusters = np.concatenate([self.clusters, self.evidence.word_clusters(new)])
        self.places = np.concatenate([self.places, self.evidence.context_places(new)])

    def encode(self, sentences: Sequence[Sequence[str]]) -> Encoded:
        """Sentences as numbers; new words get theirs."""
        self.add([word for sentence in sentences for word in sentence])
        number = self._index
        types: list[int] = []
        for sentence in sentences:
            types += (BEYOND, EDGE)
            types += [number[word] for word in sentence]
            types += (EDGE, BEYOND)
        starts = np.zeros(len(sentences) + 1, np.int64)
        np.cumsum([len(sentence) for sentence in sentences], out=starts[1:])
        array = np.array(types, np.int32)
        return Encoded(array, starts, self.evidence.token_vectors(sentences, array, starts, self.places))
