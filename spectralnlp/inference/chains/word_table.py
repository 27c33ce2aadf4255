"""A growing vocabulary that maps words to ids, with the forms, vector and cluster of each word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.chains.word_forms import FORMS, Hashes, form_hashes
from spectralnlp.runtime import offsets_of

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]

# Padding ids: the position next to a sentence, and the position beyond it.
EDGE, BEYOND = 0, 1


@dataclass(frozen=True)
class Encoded:
    """Sentences converted to word ids.

    Attributes:
        types: int32 (n_tokens + 4 · n_sentences,); word ids; each sentence is preceded by the padding ids
            `BEYOND` and `EDGE`, and followed by `EDGE` and `BEYOND`.
        starts: int64 (n_sentences + 1,); first token of each sentence, not counting padding.
    """

    types: Ints
    starts: Offsets

    @property
    def places(self) -> NDArray[np.int64]:
        """Indices of the tokens in ``types``, which also holds padding; int64 (n_tokens,)."""
        sentence = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return np.arange(int(self.starts[-1])) + 4 * sentence + 2


class _Rows:
    """A growing array of rows, whose capacity doubles so that appending takes amortised constant time."""

    def __init__(self, rows: NDArray[Any]) -> None:
        self._array, self._n = rows, len(rows)

    def append(self, rows: NDArray[Any]) -> None:
        n = self._n + len(rows)
        if n > len(self._array):
            larger = np.empty((2 * n, *rows.shape[1:]), self._array.dtype)
            larger[: self._n] = self.all
            self._array = larger
        self._array[self._n : n] = rows
        self._n = n

    @property
    def all(self) -> NDArray[Any]:
        """The rows appended so far."""
        return self._array[: self._n]


class WordTable:
    """A vocabulary that assigns ids to words in order of appearance.

    Args:
        features: vectors and clusters of words.
    """

    def __init__(self, features: UnlabelledFeatures) -> None:
        self.features = features
        self.words: dict[str, int] = {}  # ids, ascending
        hashes: Hashes = np.zeros((2, len(FORMS)), np.uint64)
        hashes[:, 0] = EDGE + 1, BEYOND + 1
        self._hashes = _Rows(hashes)
        self._vectors = _Rows(np.zeros((2, features.word_width), np.float32))
        self._clusters = _Rows(np.full(2, -1, np.int32))

    @property
    def hashes(self) -> Hashes:
        """Hashes of the forms of words, uint64 (n_words, n_forms)."""
        return self._hashes.all

    @property
    def vectors(self) -> NDArray[np.float32]:
        """Vectors of the words, float32 (n_words, word_width)."""
        return self._vectors.all

    @property
    def clusters(self) -> Ints:
        """Cluster ids of the words, int32 (n_words,); -1 for words without a cluster."""
        return self._clusters.all

    def __len__(self) -> int:
        return len(self._hashes.all)

    def add(self, words: Sequence[str]) -> None:
        """Assign ids to words that have none."""
        new = [word for word in dict.fromkeys(words) if word not in self.words]
        if not new:
            return
        self.words |= {word: number for number, word in enumerate(new, len(self))}
        self._hashes.append(form_hashes(new))
        self._vectors.append(self.features.word_vectors(new))
        self._clusters.append(self.features.word_clusters(new))

    def encode(self, sentences: Sequence[Sequence[str]]) -> Encoded:
        """Return sentences as word ids; words without an id are added to the vocabulary."""
        self.add([word for sentence in sentences for word in sentence])
        number = self.words
        types: list[int] = []
        for sentence in sentences:
            types += (BEYOND, EDGE)
            types += [number[word] for word in sentence]
            types += (EDGE, BEYOND)
        starts = offsets_of([len(sentence) for sentence in sentences])
        return Encoded(np.array(types, np.int32), starts)
