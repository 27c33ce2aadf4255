"""The estimator: count, decompose, learn to spell."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import Estimator, fit_pass
from spectralnlp.estimators.eigenwords.counts import Example, HashedPairCounts, PairCounts
from spectralnlp.estimators.eigenwords.solve import (
    Positions,
    Transform,
    Variant,
    blocks_of,
    solve_vectors,
    tabulate,
)
from spectralnlp.estimators.eigenwords.spelling import fit_spelling
from spectralnlp.inference.words.lookup import unit_rows
from spectralnlp.linalg import one_blas_thread
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import WordVectors
from spectralnlp.runtime import Corpus, accumulate


class Eigenwords(Estimator):
    """Word vectors by CCA between words and their contexts (Dhillon, Foster and Ungar 2015).

    One pass counts pairs of words; the singular vectors of the word × context matrix are the vectors. The
    defaults are what helped taggers most (``docs/eigenwords.md``); ``preset=tutorial`` is the singular
    vectors of raw counts.

    Args:
        dimensions: length of a vector (k in the papers).
        window: contexts are the words up to so many positions away.
        positions: whether a context word before and the same after, one away and two, are different contexts
            (``apart``) or one (``pooled``).
        variant: ``cca``, the matrix divided by the square roots of its row and column sums; or ``svd``, as
            it is.
        transform: of the counts: ``sqrt``, ``log`` or ``none``.
        normalise: scale each vector to length 1.
        lowercase: count words in small letters.
        min_count: words that occur less often have no vector of their own, but one by their spelling.
        vocabulary: at most so many words have one.
        contexts: the most frequent so many words are contexts (and the end of a sentence).
        hash_bits: number words by hashing to 2^hash_bits numbers instead of remembering them: words that meet
            share a vector.
        max_pairs: pairs of words counted at a time; beyond, the rarest are dropped.
        spelling: learn vectors of unseen words from their spelling.
        spelling_penalty: of that regression.
        clusters: number of k-means clusters of words to make; 0 for none.
        oversampling: singular vectors carried beyond ``dimensions``.
        iterations: power iterations of the decomposition.
        keep_counts: keep the counts as ``counts_``, to add or take out text and solve again.
        random_state: seed.

    Attributes:
        word_vectors_: :class:`~spectralnlp.parameters.WordVectors`.
        n_tokens_: words read.
        n_types_: different words read.
        is_exact_: False if pairs or words had to be dropped.
        counts_: the counts; None unless ``keep_counts``.
    """

    kind = "spectral"
    change_of_mind = "exact"
    task = "vectors"
    spills = True
    presets: ClassVar = {"tutorial": {"variant": "svd", "transform": "none", "window": 1}}

    def __init__(
        self,
        dimensions: int = 50,
        window: int = 2,
        positions: Positions = "apart",
        variant: Variant = "cca",
        transform: Transform = "sqrt",
        normalise: bool = True,
        lowercase: bool = True,
        min_count: int = 3,
        vocabulary: int | None = None,
        contexts: int = 5000,
        hash_bits: int | None = None,
        max_pairs: int = 12_000_000,
        spelling: bool = True,
        spelling_penalty: float = 1.0,
        clusters: int = 0,
        oversampling: int = 20,
        iterations: int = 4,
        keep_counts: bool = False,
        random_state: int = 0,
    ) -> None:
        self.dimensions = dimensions
        self.window = window
        self.positions = positions
        self.variant = variant
        self.transform = transform
        self.normalise = normalise
        self.lowercase = lowercase
        self.min_count = min_count
        self.vocabulary = vocabulary
        self.contexts = contexts
        self.hash_bits = hash_bits
        self.max_pairs = max_pairs
        self.spelling = spelling
        self.spelling_penalty = spelling_penalty
        self.clusters = clusters
        self.oversampling = oversampling
        self.iterations = iterations
        self.keep_counts = keep_counts
        self.random_state = random_state

    def fit(self, corpus: Corpus[Example], y: None = None) -> Self:
        """Count the pairs of a text and solve.

        Args:
            corpus: lines of words between blanks, or sentences as lists of words, or ``Ngrams``.
            y: ignored.

        Raises:
            InputError: fewer than two words occur often enough.
        """
        self._check()
        with fit_pass("counts"):
            counts = accumulate(self.no_moments(corpus), corpus)
        self.solve(counts)
        return self

    def _check(self) -> None:
        for name in ("dimensions", "window", "min_count", "contexts"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} must be 1 or more, not {getattr(self, name)}")
        for name in ("clusters", "oversampling", "iterations"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} must not be negative: {getattr(self, name)}")
        if not self.spelling_penalty > 0:
            raise ConfigError(f"spelling_penalty must be positive, not {self.spelling_penalty}")

    def no_moments(self, corpus: Corpus[Example]) -> PairCounts:
        """Counts that nothing has been added to yet, whatever the corpus."""
        if self.hash_bits is None:
            return PairCounts(self.window, self.lowercase, max_pairs=self.max_pairs)
        return HashedPairCounts(self.hash_bits, self.window, self.lowercase, self.max_pairs)

    def solve(self, counts: PairCounts) -> None:
        """Set the fitted attributes from counts."""
        with fit_pass("matrix"):
            blocks = blocks_of(self.window, self.positions)
            table = tabulate(
                counts, min_count=self.min_count, max_words=self.vocabulary, n_contexts=self.contexts,
                blocks=blocks, transform=self.transform, width=self.dimensions + self.oversampling,
            )  # fmt: skip
        words, word_counts = table.words, table.counts
        self.n_tokens_, self.n_types_ = counts.n_tokens, table.n_types
        self.is_exact_ = counts.is_exact and table.is_whole
        self.counts_ = counts if self.keep_counts else None
        with one_blas_thread():
            with fit_pass("SVD"):
                vectors, sigma, context_vectors = solve_vectors(
                    table.matrix, self.variant, self.dimensions, oversampling=self.oversampling,
                    iterations=self.iterations, random_state=self.random_state,
                )  # fmt: skip
                if self.normalise:
                    vectors = unit_rows(vectors)
            spelling = clusters = None
            if self.spelling:
                with fit_pass("spelling"):
                    spelling = fit_spelling(
                        words, vectors, np.power(word_counts, 0.25), self.spelling_penalty
                    )
            if self.clusters:
                with fit_pass("clusters"):
                    clusters, _ = kmeans(vectors, self.clusters, random_state=self.random_state)
        self.word_vectors_ = WordVectors(
            tuple(words), word_counts, vectors, sigma, tuple(table.contexts), blocks,
            context_vectors.reshape(len(blocks), len(table.contexts), -1), self.lowercase, self.hash_bits,
            None if self.hash_bits is None or table.numbers is None else table.numbers.astype(np.int32),
            spelling, clusters,
        )  # fmt: skip
