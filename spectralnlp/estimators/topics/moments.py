"""Collect what topics are learned from: frequencies, pairs and triples of words, and counts for EM."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.shared.word_counts import WordCounts
from spectralnlp.estimators.topics.triangle import SymmetricMatrix, Triangle
from spectralnlp.inference.topics.bags import bags
from spectralnlp.inference.topics.mixtures import document_mixtures, document_posteriors, positive_topics
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.runtime import Batch, ExampleLog, Items, Key, Moments, Symbol, current_memory
from spectralnlp.text.inputs import check_tokens

# Number of documents whose pairs are summed at a time.
CHUNK = 4096

# Memory per pair, in bytes: twelve, times the number of copies held during a merge.
_BYTES_FOR_A_PAIR = 6 * 12


class DocumentFrequencies(WordCounts):
    """Number of documents with each word; the number of all documents is stored under the empty string."""

    pass_name = "vocabulary"

    def events(self, example: Sequence[Symbol]) -> Iterable[Key]:
        """Return the distinct words of a document, and the empty string for the document itself."""
        return {*check_tokens(example), ""}


class _BagMoments(Moments[Sequence[str]]):
    """Base class of sums over documents, each given by the counts of its words (bag of words).

    Only documents with at least `least` words of the vocabulary are used; subclasses can set this number.

    Args:
        vocabulary: the V words of the vocabulary; others are ignored.
    """

    least = 3
    batch_size = 1024

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = tuple(vocabulary)
        self._index: dict[str, int] | None = None

    def _bags(self, batch: Batch[Sequence[str]]) -> sp.csr_matrix:
        if self._index is None:
            self._index = {word: number for number, word in enumerate(self.vocabulary)}
        return bags(batch, self._index, len(self.vocabulary), self.least)


class PairMoments(_BagMoments):
    """Means over documents of E[x1] and E[x1 ⊗ x2], where x1, x2 are words drawn without replacement.

    A word is represented by a one-hot vector of length V, the size of the vocabulary. For a document of n
    words with counts c, the expectations are c/n and (c c⊤ - diag(c))/(n(n - 1)) (Anandkumar et al. 2014,
    section 3.1, for documents of any length). Pairs form a sparse symmetric matrix, whose upper triangle is
    stored.

    Raises:
        ConfigError: the pairs exceed the memory limit (`spectralnlp.runtime.use_memory`).
    """

    pass_name = "pairs"

    def __init__(self, vocabulary: Sequence[str]) -> None:
        super().__init__(vocabulary)
        V = len(self.vocabulary)
        self._words = np.zeros(V)
        self._n = np.zeros(2)
        self._pairs = Triangle(V)
        self._memory = current_memory()
        self._waiting: list[sp.csr_matrix] = []
        self._n_waiting = 0

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Add the documents of a batch to the sums."""
        counts = self._bags(batch)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        self._n += len(lengths), (1 / (lengths * (lengths - 1))).sum()
        self._words += counts.T @ (1 / lengths)
        self._waiting.append(counts)
        self._n_waiting += len(lengths)
        if self._n_waiting >= CHUNK:
            self._add_up()

    @property
    def n_documents(self) -> int:
        """Number of documents with enough vocabulary words."""
        return int(self._n[0])

    @property
    def n_pairs(self) -> float:
        """Number of independent ordered pairs of words whose mean has the variance of the mean of pairs."""
        return float(self._n[0] ** 2 / max(self._n[1], np.finfo(np.float64).tiny))

    def means(self) -> tuple[Floats, SymmetricMatrix]:
        """Return E[x1], float64 (V,), and E[x1 ⊗ x2], (V, V); clear the sums of pairs to save memory."""
        self._add_up()
        upper, self._pairs = self._pairs.whole(), Triangle(len(self.vocabulary))
        upper.data /= self._n[0]
        return self._words / self._n[0], SymmetricMatrix(upper)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sums over documents as arrays for storage.

        ``words``: float64 (V,), sum of c/n. ``n``: float64 (2,), number of documents, and sum of
        1/(n(n - 1)). ``data``, ``indices`` and ``indptr``: the upper triangle of the matrix of pairs, in CSR
        format.
        """
        self._add_up()
        pairs = self._pairs.whole()
        return {
            "words": self._words,
            "n": self._n,
            "data": pairs.data,
            "indices": pairs.indices.astype(np.int32),
            "indptr": pairs.indptr.astype(np.int64),
        }

    def _restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._words, self._n = arrays["words"].copy(), arrays["n"].copy()
        V = len(self.vocabulary)
        self._pairs = Triangle(V)
        self._pairs.add(sp.csr_matrix((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(V, V)))

    def _add(self, other: Self) -> None:
        self._add_up()
        other._add_up()
        self._words = self._words + other._words
        self._n = self._n + other._n
        self._pairs.merge(other._pairs)
        self._check_memory()

    def empty_like(self) -> Self:
        """Return empty moments with the same vocabulary and the same memory limit."""
        empty = super().empty_like()
        empty._memory = self._memory
        return empty

    def _add_up(self) -> None:
        if not self._waiting:
            return
        counts = sp.vstack(self._waiting, format="csr")
        self._waiting, self._n_waiting = [], 0
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        scale = 1 / (lengths * (lengths - 1))
        same = counts.T @ scale
        self._pairs.add(sp.triu(counts.T @ (sp.diags(scale) @ counts) - sp.diags(same), format="csr"))
        self._check_memory()

    def _check_memory(self) -> None:
        n_pairs = self._pairs.n_entries
        if self._memory is not None and n_pairs * _BYTES_FOR_A_PAIR > self._memory.size:
            what = f"{n_pairs:,} pairs of {len(self.vocabulary):,} words do not fit into memory"
            raise ConfigError(what, hint="raise `memory`, or lower max_words")


class TripleMoments(_BagMoments):
    """Mean over documents of E[x1 ⊗ x2 ⊗ x3](W, W, W), where x1, x2, x3 are words of a document.

    Words are drawn without replacement, are one-hot vectors, and are projected by the matrix W. Only
    k × k × k tensors are formed, never a V × V × V tensor.

    Args:
        vocabulary: the V words of the vocabulary; others are ignored.
        projection: W, float64 (V, k).
    """

    pass_name = "triples"

    def __init__(self, vocabulary: Sequence[str], projection: Floats) -> None:
        super().__init__(vocabulary)
        self.projection = projection
        k = projection.shape[1]
        self._n = np.zeros(1)
        self._cubes = np.zeros((k * k, k))
        self._pairs = np.zeros((len(self.vocabulary), k))
        self._same = np.zeros(len(self.vocabulary))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the sums over documents as float64 arrays for storage; see `mean` for their use.

        For a document of n words with counts c, let s = 1/(n(n - 1)(n - 2)) and p = W⊤c. ``n``: (1,), number
        of documents. ``cubes``: (k², k), sum of s p ⊗ p ⊗ p. ``pairs``: (V, k), sum of s c ⊗ p. ``same``:
        (V,), sum of s c.
        """
        return {"n": self._n, "cubes": self._cubes, "pairs": self._pairs, "same": self._same}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Add the documents of a batch to the sums."""
        counts = self._bags(batch)
        lengths = np.asarray(counts.sum(axis=1)).ravel()
        scale = 1 / (lengths * (lengths - 1) * (lengths - 2))
        projected = counts @ self.projection
        scaled = projected * scale[:, None]
        squares = (projected[:, :, None] * projected[:, None, :]).reshape(len(lengths), self._cubes.shape[0])
        self._n += len(lengths)
        self._cubes += squares.T @ scaled
        self._pairs += counts.T @ scaled
        self._same += counts.T @ scale

    def mean(self) -> Floats:
        """Return the mean third moment, float64 (k, k, k), corrected for draws without replacement."""
        k = self.projection.shape[1]
        W = self.projection
        twice = np.einsum("vi,vj,vl->ijl", W, W, self._pairs, optimize=True)
        thrice = np.einsum("v,vi,vj,vl->ijl", self._same, W, W, W, optimize=True)
        twice = twice + twice.transpose(0, 2, 1) + twice.transpose(2, 1, 0)
        return (self._cubes.reshape(k, k, k) - twice + 2 * thrice) / self._n[0]


class ExpectedCounts(_BagMoments):
    """Expected counts of words in each topic, given the present topics: the E-step of EM.

    Args:
        vocabulary: the V words of the vocabulary; others are ignored.
        topics: float64 (k, V), positive; p(word | topic).
        weights: float64 (k,), positive, summing to one; weight of each topic.
        alpha0: concentration α0; see :class:`~spectralnlp.parameters.TopicMixture`.
        iteration: number of the EM iteration, from 1.
    """

    least = 1
    INNER = 10  # number of iterations for each document's mixture

    def __init__(
        self, vocabulary: Sequence[str], topics: Floats, weights: Floats, alpha0: float, iteration: int = 1
    ) -> None:
        super().__init__(vocabulary)
        self.topics, self.weights, self.alpha0, self.iteration = topics, weights, alpha0, iteration
        self.pass_name = f"EM {iteration}"
        self.counts = np.zeros(topics.shape)

    @classmethod
    def of(cls, topics: TopicMixture, iteration: int) -> Self:
        """Return empty counts for an EM iteration; probabilities in ``topics`` are made positive."""
        return cls(topics.words, positive_topics(topics), topics.weights, topics.alpha0, iteration)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the expected count of each word in each topic, ``counts``, float64 (k, V), for storage."""
        return {"counts": self.counts}

    def observe(self, batch: Batch[Sequence[str]]) -> None:
        """Add the expected counts of words in the documents of a batch."""
        bags_ = self._bags(batch)
        if self.alpha0:
            prior = self.alpha0 * self.weights
            _, expected = document_mixtures(bags_, self.topics, prior, iterations=self.INNER)
        else:
            _, expected = document_posteriors(bags_, self.topics, self.weights)
        self.counts += expected


class DocumentLog(ExampleLog[Sequence[str]]):
    """Log of the words of each document, in order; merging concatenates logs."""

    columns: ClassVar = {"word": "words"}

    @classmethod
    def items_of(cls, example: Sequence[str]) -> Items:
        """Return what the log stores for a document: a single column, its words."""
        return (check_tokens(example),)

    @classmethod
    def example_of(cls, items: Items) -> Sequence[str]:
        """Return the words of a document from what the log stored; the inverse of `items_of`."""
        (words,) = items
        return [str(word) for word in words]


def choose_vocabulary(
    frequencies: DocumentFrequencies, min_documents: int, max_share: float, max_words: int
) -> list[str]:
    """Choose the words that occur in neither too few nor too many documents, by descending frequency.

    Words in a large share of the documents are mostly function words, so no stop list is needed.

    Args:
        frequencies: document frequencies.
        min_documents: minimum number of documents with a word.
        max_share: maximum share of documents with a word.
        max_words: maximum number of words.

    Raises:
        InputError: there are no documents, or no word is left.
    """
    n_documents = frequencies[""]
    if not n_documents:
        raise InputError("no documents to learn from", hint="give text with one document per line")
    most = max_share * n_documents
    # The empty string, which counts documents, may be among the frequent words.
    frequent = frequencies.most_frequent(max_words + 1, min_documents, math.floor(most))
    words = [word for word in frequent if word]
    if not words:
        what = (
            f"no word is in {min_documents} documents or more and in at most {max_share:.0%} of {n_documents}"
        )
        raise InputError(what, hint="lower min_documents or raise max_share")
    return words[:max_words]
