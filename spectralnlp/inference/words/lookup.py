"""Look up word vectors, and compute the vectors of words' contexts in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.inference.words.spelling import spell_vectors
from spectralnlp.parameters import WordVectors

Array32 = NDArray[np.float32]
Ints = NDArray[np.int32]


class VectorLookup:
    """Lookup of word vectors, context vectors and clusters by word.

    Args:
        parameters: the vocabulary and its vectors.
    """

    def __init__(self, parameters: WordVectors) -> None:
        self.parameters = parameters

    @property
    def dimensions(self) -> int:
        """Number of dimensions of the vectors."""
        return int(self.parameters.vectors.shape[1])

    @cached_property
    def _rows(self) -> Mapping[str, int]:
        return {word: row for row, word in enumerate(self.parameters.words)}

    def row(self, word: str) -> int | None:
        """Return the row of a word in the vocabulary; None for unknown words."""
        return self._rows.get(word.lower() if self.parameters.lowercase else word)

    def vectors(self, words: Sequence[str]) -> Array32:
        """Return the vectors of words; those of unknown words come from a spelling model, or are zeros.

        Returns:
            float32 (n_words, dimensions).
        """
        rows = [self.row(word) for word in words]
        vectors = np.zeros((len(rows), self.dimensions), np.float32)
        known = {place: row for place, row in enumerate(rows) if row is not None}
        vectors[list(known)] = self.parameters.vectors[list(known.values())]
        unknown = [place for place, row in enumerate(rows) if row is None]
        if unknown and self.parameters.spelling is not None:
            vectors[unknown] = self._spelled([words[place] for place in unknown])
        return vectors

    def _spelled(self, words: Sequence[str]) -> Array32:
        spelling = self.parameters.spelling
        assert spelling is not None
        written = [word.lower() for word in words] if self.parameters.lowercase else words
        vectors = spell_vectors(spelling, written)
        # Regression shrinks vectors; rescale them to the median length of the vocabulary's.
        return unit_rows(vectors) * self._length

    @cached_property
    def _length(self) -> np.float32:
        return np.float32(np.median(np.linalg.norm(self.parameters.vectors, axis=1)))

    def contexts(self, words: Sequence[str]) -> Array32:
        """Return the vector of each word's context in a sentence, scaled to length 1.

        A context is the sum of the context vectors of the surrounding words.

        Returns:
            float32 (n_words, dimensions); zeros if no word of the context is known.

        Raises:
            InputError: the model has no context vectors.
        """
        context_vectors = self.context_vectors
        places = self.context_places(["", *words, ""])
        state = np.zeros((len(words), self.dimensions), np.float32)
        for block, offsets in enumerate(self.parameters.blocks):
            for offset in offsets:
                for token in range(len(words)):
                    at = token + 1 + offset  # the first and the last place are the sentence's ends
                    if 0 <= at < len(places) and places[at] >= 0:
                        state[token] += context_vectors[block, places[at]]
        return unit_rows(state)

    @property
    def context_vectors(self) -> Array32:
        """The vectors of context words, float32 (n_blocks, n_contexts, dimensions).

        A block is a group of relative positions, such as -1 or +1; a context word has one vector for each.

        Raises:
            InputError: the model has no context vectors.
        """
        if self.parameters.context_vectors is None:
            raise InputError(
                "these vectors have no contexts", hint="train with `spectralnlp train eigenwords`"
            )
        return self.parameters.context_vectors

    def context_places(self, words: Sequence[str]) -> Ints:
        """Return the index of each word among the context words, int32 (n_words,); -1 for other words.

        The empty string stands for the sentence boundary.
        """
        return np.array([self._context(word) for word in words], np.int32)

    @cached_property
    def _context_index(self) -> Mapping[str, int]:
        return {word: place for place, word in enumerate(self.parameters.contexts)}

    def _context(self, word: str) -> int:
        return self._context_index.get(word.lower() if self.parameters.lowercase else word, -1)

    def clusters(self, words: Sequence[str]) -> Ints:
        """Return the cluster of each word, int32 (n_words,); -1 if the word is unknown or has no cluster."""
        if self.parameters.clusters is None:
            return np.full(len(words), -1, np.int32)
        rows = [self.row(word) for word in words]
        return np.array([-1 if row is None else self.parameters.clusters[row] for row in rows], np.int32)


def unit_rows(x: Array32) -> Array32:
    """Return each row divided by its Euclidean length; rows of zeros stay zero."""
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), np.float32(1e-12))
