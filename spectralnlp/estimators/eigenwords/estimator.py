"""The ``eigenwords`` estimator: learn word vectors by decomposing a matrix of word × context counts.

A spelling model is fitted to the vectors, and predicts those of unknown words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.estimator import MomentEstimator
from spectralnlp.estimators.eigenwords.moments import Example, PairCounts
from spectralnlp.estimators.eigenwords.solve import (
    Array32,
    MatrixShape,
    Positions,
    Tabulated,
    Transform,
    Variant,
    blocks_of,
    solve_vectors,
    tabulate,
)
from spectralnlp.estimators.eigenwords.spelling import fit_spelling
from spectralnlp.inference.words.lookup import unit_rows
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import Ints, Spelling, WordVectors
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus


@dataclass(kw_only=True, eq=False, repr=False)
class Eigenwords(MomentEstimator[Example]):
    """Word vectors by CCA between words and their contexts (Dhillon, Foster and Ungar 2015).

    One pass counts pairs of words; the word vectors are singular vectors of the word × context matrix. The
    defaults are those that helped taggers most (``docs/eigenwords.md``); ``preset=tutorial`` uses the
    singular vectors of raw counts.

    Attributes:
        word_vectors_: the learned :class:`~spectralnlp.parameters.WordVectors`.
        n_tokens_: number of tokens in the training text.
        n_types_: number of distinct words in the training text.
        is_exact_: False if only the most frequent words have vectors, because those of all words exceed the
            memory limit.

    Examples:
        >>> from spectralnlp import Eigenwords
        >>> sentences = [line.split() for line in ("the cat sat", "the dog sat", "a cat ran", "a dog ran")]
        >>> model = Eigenwords(dimensions=2, min_count=1).fit(sentences)
        >>> model.word_vectors_.vectors.shape
        (6, 2)
    """

    unlearning = "exact"
    task = "vectors"
    spills = True
    presets: ClassVar = {"tutorial": {"variant": "svd", "transform": "none", "window": 1}}

    dimensions: Annotated[int, Ge(1), Doc("Length of a vector (k in the papers).")] = field(
        default=50, kw_only=False
    )
    window: Annotated[int, Ge(1), Le(1000), Doc("Largest distance of a context word, in positions.")] = 2
    positions: Annotated[
        Positions,
        Doc(
            "Whether a context word at different relative positions counts as different contexts "
            "(``apart``) or as the same one (``pooled``)."
        ),
    ] = "apart"
    variant: Annotated[
        Variant,
        Doc(
            "``cca``: divide the matrix by the square roots of its row and column sums first; ``svd``: "
            "decompose it unchanged."
        ),
    ] = "cca"
    transform: Annotated[Transform, Doc("Transform of the counts: ``sqrt``, ``log`` or ``none``.")] = "sqrt"
    lowercase: Annotated[bool, Doc("Lower-case words before counting.")] = True
    min_count: Annotated[
        int, Ge(1), Doc("Least frequency of a word with its own vector; other vectors come from spelling.")
    ] = 3
    vocabulary: Annotated[
        Annotated[int, Ge(1)] | None, Doc("Maximum number of words with their own vector; all if not given.")
    ] = None
    contexts: Annotated[
        Annotated[int, Ge(1)] | Literal["right"],
        Doc(
            "Number of context words, the most frequent first; the end of a sentence is a context too. "
            "``right``: the contexts are all words that follow, without sentence ends; with "
            "``preset=tutorial`` this gives the slides' words × words matrix of bigrams."
        ),
    ] = 5000
    spelling: Annotated[bool, Doc("Learn to predict vectors of unknown words from their spelling.")] = True
    clusters: Annotated[int, Ge(0), Doc("Number of k-means clusters of words; 0 for no clustering.")] = 0
    random_state: Annotated[int, Ge(0), Doc("Random seed.")] = 0

    def remarks(self) -> list[str]:
        """Return a warning line if words were left out."""
        if self.is_exact_:
            return []
        return ["more words than the memory limit allows vectors for: the rarest were left out; see `memory`"]

    def init_moments(self, corpus: Corpus[Example]) -> PairCounts:
        """Return empty counts of pairs of words."""
        return PairCounts(window=self.window, lowercase=self.lowercase)

    def solve(self, moments: PairCounts) -> None:
        """Compute the word vectors from counts; if requested, fit the spelling model and cluster the words.

        Raises:
            InputError: fewer than two words occur often enough.
        """
        right = self.contexts == "right"
        blocks = blocks_of(self.window, self.positions, before=not right)
        with fit_pass("matrix"):
            shape = MatrixShape(
                min_count=self.min_count,
                max_words=self.vocabulary,
                n_contexts=None if isinstance(self.contexts, str) else self.contexts,
                blocks=blocks,
                with_ends=not right,
            )
            table = tabulate(moments, shape, transform=self.transform, dimensions=self.dimensions)
        self.n_tokens_, self.n_types_ = moments.n_tokens, table.n_types
        self.is_exact_ = table.is_whole
        with fit_pass("SVD"):
            vectors, sigma, context_vectors = solve_vectors(
                table.matrix, self.variant, self.dimensions, random_state=self.random_state
            )
            vectors = unit_rows(vectors)
        self.word_vectors_ = WordVectors(
            words=tuple(table.words),
            counts=table.counts,
            vectors=vectors,
            singular_values=sigma,
            contexts=tuple(table.contexts),
            blocks=blocks,
            context_vectors=context_vectors.reshape(len(blocks), len(table.contexts), -1),
            lowercase=self.lowercase,
            spelling=self._learn_spelling(table, vectors) if self.spelling else None,
            clusters=self._cluster(vectors) if self.clusters else None,
        )

    def _learn_spelling(self, table: Tabulated, vectors: Array32) -> Spelling:
        with fit_pass("spelling"):
            return fit_spelling(table.words, vectors, np.power(table.counts, 0.25))

    def _cluster(self, vectors: Array32) -> Ints:
        with fit_pass("clusters"):
            clusters, _ = kmeans(vectors, self.clusters, random_state=self.random_state)
            return clusters
