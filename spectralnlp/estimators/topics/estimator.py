"""The estimator ``topics``: the single-topic model and latent Dirichlet allocation by moments."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

import numpy as np

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator, fit_pass
from spectralnlp.estimators.topics.log import DocumentLog
from spectralnlp.estimators.topics.moments import (
    DocumentFrequencies,
    ExpectedCounts,
    PairMoments,
    TripleMoments,
)
from spectralnlp.estimators.topics.solve import third_moment, topics_of_tensor, whitening_of_pairs
from spectralnlp.inference.topics.mixtures import (
    _positive,
    mixtures_of,
)
from spectralnlp.linalg import one_blas_thread
from spectralnlp.linalg.rank import usable_rank
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.runtime import Corpus, accumulate

BATCH = 1024
"""Documents at a time."""


class TopicModel(Estimator):
    """Topics by whitening and tensor decomposition (Anandkumar et al. 2012, 2014), then a few steps of EM.

    Three passes: words and documents, from which the vocabulary is chosen; pairs of words, whose second
    moment is whitened; triples of words through the whitening, a k × k × k tensor that is decomposed. A few
    passes of EM from there fit the documents better; EM from a random start needs many.

    Args:
        n_topics: k. Lowered, with a warning, where the words have fewer directions.
        alpha0: α0, the concentration of documents' mixtures; 0 for the single-topic model.
        scaling: divide words by the square roots of their frequencies before the whitening.
        em_iterations: passes of EM after the decomposition.
        smoothing: EM: occurrences of each word that each topic has beforehand.
        min_documents: in how many documents a word occurs to count.
        max_share: in how large a part of all documents it may occur.
        max_words: how many words count, those in most documents first.
        restarts: starts of the tensor power method for each topic.
        iterations: its iterations.
        random_state: seed of the SVD and of the starts.

    Attributes:
        topics_: the :class:`~spectralnlp.parameters.TopicMixture`.
        eigenvalues_: float64 (k,), of the second moment that was whitened.
        n_documents_: documents that were learned from: those of three words or more.
    """

    kind = "spectral"
    change_of_mind = "replay"
    spills = True
    task = "topics"
    presets: ClassVar = {"tutorial": {"em_iterations": 0}}

    topics_: TopicMixture
    n_documents_: int

    def __init__(
        self,
        n_topics: int = 20,
        alpha0: float = 1.0,
        scaling: bool = False,
        em_iterations: int = 1,
        smoothing: float = 0.01,
        min_documents: int = 5,
        max_share: float = 0.1,
        max_words: int = 5000,
        restarts: int = 10,
        iterations: int = 20,
        random_state: int = 0,
    ) -> None:
        self.n_topics = n_topics
        self.alpha0 = alpha0
        self.scaling = scaling
        self.em_iterations = em_iterations
        self.smoothing = smoothing
        self.min_documents = min_documents
        self.max_share = max_share
        self.max_words = max_words
        self.restarts = restarts
        self.iterations = iterations
        self.random_state = random_state

    def fit(self, corpus: Corpus[Sequence[str]], y: None = None) -> Self:
        """Learn topics.

        Args:
            corpus: the words of each document.
            y: ignored.

        Raises:
            InputError: no word or no document is left to learn from.
            ConfigError: a setting is out of its range.
        """
        self._check()
        with fit_pass("vocabulary"):
            vocabulary = choose_vocabulary(corpus, self.min_documents, self.max_share, self.max_words)
        with fit_pass("pairs"):
            moments = accumulate(PairMoments(vocabulary), corpus, batch_size=BATCH)
        if not moments.n_documents:
            what = "no document has three words that count"
            raise InputError(what, hint="documents are lines; lower min_documents or raise max_share")
        self.n_documents_ = moments.n_documents
        first, pairs = moments.means()
        del moments
        # A word that stands only in documents too short to count has no moments.
        seen = first > 0
        if not seen.all():
            vocabulary = [word for word, there in zip(vocabulary, seen, strict=True) if there]
            first, pairs = first[seen], pairs.restricted(seen)
        with fit_pass("whitening"), one_blas_thread():
            W, back, eigenvalues = whitening_of_pairs(
                first, pairs, self.alpha0, self.n_topics, scaling=self.scaling, random_state=self.random_state
            )
        self.eigenvalues_ = np.maximum(eigenvalues, 0.0)
        rank = usable_rank(self.eigenvalues_, self.n_topics, "n_topics")
        W, back = W[:, :rank], back[:, :rank]
        with fit_pass("triples"), one_blas_thread():
            triples = accumulate(TripleMoments(vocabulary, W), corpus, batch_size=BATCH).mean()
        with fit_pass("tensor power method"), one_blas_thread():
            tensor = third_moment(triples, first, pairs, W, self.alpha0)
            weights, topics = topics_of_tensor(
                tensor, back, self.alpha0, restarts=self.restarts, iterations=self.iterations,
                random_state=self.random_state,
            )  # fmt: skip
        if not len(weights):
            weights, topics = np.ones(1), first[None] / first.sum()
        self.topics_ = TopicMixture(tuple(vocabulary), weights, topics, first / first.sum(), self.alpha0)
        for step in range(self.em_iterations):
            with fit_pass(f"EM {step + 1}"), one_blas_thread():
                self.topics_ = em_step(self.topics_, corpus, self.smoothing)
        return self

    def no_moments(self, corpus: Corpus[Sequence[str]]) -> DocumentLog:
        """A log of documents that has none yet, whatever the corpus."""
        return DocumentLog()

    def solve(self, log: DocumentLog) -> None:
        """Set the fitted attributes from a log of documents; errors as of `fit`."""
        self.fit(log.corpus())

    def transform(self, documents: Iterable[Sequence[str]]) -> Floats:
        """The mixture of topics in each document; see `mixtures_of`."""
        self.check_is_fitted()
        return mixtures_of(self.topics_, documents)

    def _check(self) -> None:
        for name in ("n_topics", "max_words", "restarts", "iterations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"TopicModel.{name} is at least 1, not {getattr(self, name)}")
        for name in ("alpha0", "smoothing", "em_iterations"):
            if not getattr(self, name) >= 0:
                raise ConfigError(f"TopicModel.{name} is not negative, and {getattr(self, name)} is")


def choose_vocabulary(
    corpus: Corpus[Sequence[str]], min_documents: int, max_share: float, max_words: int
) -> list[str]:
    """The words that count: neither in too few documents nor in too many, those in most documents first.

    Words in a tenth of all documents are mostly function words, whatever the language: no list is needed.

    Raises:
        InputError: there are no documents, or no word is left.
    """
    frequencies = accumulate(DocumentFrequencies(), corpus)
    n_documents = frequencies[""]
    if not n_documents:
        raise InputError("no documents to learn from", hint="give text, one document a line")
    most = max_share * n_documents
    # The empty string, which stands for the documents, may be among them.
    found = frequencies.most_frequent(max_words + 1, min_documents, math.floor(most))
    words = [word for word in found if word]
    if not words:
        what = (
            f"no word is in {min_documents} documents or more and in at most {max_share:.0%} of {n_documents}"
        )
        raise InputError(what, hint="lower min_documents or raise max_share")
    return words[:max_words]


def em_step(topics: TopicMixture, corpus: Corpus[Sequence[str]], smoothing: float) -> TopicMixture:
    """One pass of EM: expected counts of words in topics, then their shares."""
    moments = ExpectedCounts(topics.words, _positive(topics), topics.weights, topics.alpha0)
    counts = accumulate(moments, corpus, batch_size=BATCH).counts
    totals = counts.sum(axis=1)
    order = np.argsort(-totals, kind="stable")
    smoothed = counts[order] + smoothing
    weights = (totals[order] + smoothing) / (totals + smoothing).sum()
    distributions = smoothed / smoothed.sum(axis=1, keepdims=True)
    return TopicMixture(topics.words, weights, distributions, topics.frequencies, topics.alpha0)
