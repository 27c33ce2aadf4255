"""The estimator ``topics``: the single-topic model and latent Dirichlet allocation by moments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import singledispatchmethod
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.errors import InputError
from spectralnlp.estimator import MomentEstimator
from spectralnlp.estimators.topics.moments import (
    DocumentFrequencies,
    ExpectedCounts,
    PairMoments,
    TripleMoments,
    choose_vocabulary,
)
from spectralnlp.estimators.topics.replay_log import DocumentLog
from spectralnlp.estimators.topics.solve import (
    Whitened,
    reestimated,
    third_moment,
    topics_of_tensor,
    whitening_of_pairs,
)
from spectralnlp.inference.topics.mixtures import mixtures_of
from spectralnlp.linalg.rank import usable_rank
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, Moments


@dataclass(kw_only=True, eq=False, repr=False)
class TopicModel(MomentEstimator[Sequence[str]]):
    """Topics by whitening and tensor decomposition (Anandkumar et al. 2012, 2014), then a few steps of EM.

    Three passes: words and documents, from which the vocabulary is chosen; pairs of words, whose second
    moment is whitened; triples of words through the whitening, a k × k × k tensor that is decomposed. A few
    passes of EM from there fit the documents better; EM from a random start needs many.

    Attributes:
        topics_: the :class:`~spectralnlp.parameters.TopicMixture`.
        eigenvalues_: float64 (k,), of the second moment that was whitened.
        n_documents_: documents that were learned from: those of three words or more.

    Examples:
        >>> from spectralnlp import TopicModel
        >>> texts = ["sea boat wave", "boat sea tide", "bread oven salt", "oven bread"] * 10
        >>> documents = [text.split() for text in texts]
        >>> model = TopicModel(n_topics=2, min_documents=1, max_share=1.0).fit(documents)
        >>> model.topics_.topics.shape
        (2, 7)
    """

    unlearning = "replay"
    spills = True
    task = "topics"
    presets: ClassVar = {"tutorial": {"em_iterations": 0}}

    topics_: TopicMixture = field(init=False)
    n_documents_: int = field(init=False)

    n_topics: Annotated[
        int, Ge(1), Doc("Number of topics (k); lowered, with a warning, where words have fewer directions.")
    ] = field(default=20, kw_only=False)
    alpha0: Annotated[
        float,
        Ge(0),
        Le(1e6),
        Doc("α0, the concentration of documents' mixtures; 0 for the single-topic model."),
    ] = 1.0
    scaling: Annotated[
        bool, Doc("Divide words by the square roots of their frequencies before the whitening.")
    ] = False
    em_iterations: Annotated[int, Ge(0), Le(1000), Doc("Passes of EM after the decomposition.")] = 1
    min_documents: Annotated[int, Ge(0), Doc("In how many documents a word occurs to count.")] = 5
    max_share: Annotated[float, Ge(0), Doc("In how large a part of all documents it may occur.")] = 0.1
    max_words: Annotated[int, Ge(1), Doc("How many words count, those in most documents first.")] = 5000
    random_state: Annotated[int, Ge(0), Doc("Seed of the SVD and of the starts.")] = 0

    def init_moments(self, corpus: Corpus[Sequence[str]]) -> DocumentFrequencies:
        """Return empty counts of the documents that each word is in."""
        return DocumentFrequencies()

    @singledispatchmethod
    def solve(self, moments: Any) -> Moments[Sequence[str]] | None:
        """Go from the moments of one pass to the next: vocabulary, pairs, triples, iterations of EM.

        Raises:
            InputError: no word or no document is left to learn from.
        """
        raise TypeError(f"no pass of TopicModel gives {type(moments).__name__}")

    @solve.register
    def _choose_vocabulary(self, moments: DocumentFrequencies) -> PairMoments:
        """First pass: words that are neither too rare nor too frequent count."""
        return PairMoments(choose_vocabulary(moments, self.min_documents, self.max_share, self.max_words))

    @solve.register
    def _whiten(self, moments: PairMoments) -> TripleMoments:
        """Second pass: the second moment is whitened."""
        if not moments.n_documents:
            what = "no document has three words that count"
            raise InputError(what, hint="documents are lines; lower min_documents or raise max_share")
        self.n_documents_ = moments.n_documents
        vocabulary = list(moments.vocabulary)
        first, pairs = moments.means()
        # A word that stands only in documents too short to count has no moments.
        has_moments = first > 0
        if not has_moments.all():
            vocabulary = [word for word, has in zip(vocabulary, has_moments, strict=True) if has]
            first, pairs = first[has_moments], pairs.restricted(has_moments)
        with fit_pass("whitening"):
            W, back, eigenvalues = whitening_of_pairs(
                first, pairs, self.alpha0, self.n_topics, scaling=self.scaling, random_state=self.random_state
            )
        self.eigenvalues_ = np.maximum(eigenvalues, 0.0)
        rank = usable_rank(self.eigenvalues_, self.n_topics, "n_topics")
        self._whitened_ = Whitened(first=first, pairs=pairs, whitener=W[:, :rank], back=back[:, :rank])
        return TripleMoments(vocabulary, self._whitened_.whitener)

    @solve.register
    def _decompose(self, moments: TripleMoments) -> ExpectedCounts | None:
        """Third pass: the whitened third moment is decomposed into topics."""
        whitened = self._whitened_
        del self._whitened_
        with fit_pass("tensor power method"):
            weights, topics = topics_of_tensor(
                third_moment(moments.mean(), whitened, self.alpha0),
                whitened.back,
                self.alpha0,
                random_state=self.random_state,
            )
        first = whitened.first / whitened.first.sum()
        if not len(weights):
            weights, topics = np.ones(1), first[None]
        self.topics_ = TopicMixture(
            words=moments.vocabulary, weights=weights, topics=topics, frequencies=first, alpha0=self.alpha0
        )
        return self._next_iteration(1)

    @solve.register
    def _maximise(self, moments: ExpectedCounts) -> ExpectedCounts | None:
        """Every further pass: one M-step of EM."""
        self.topics_ = reestimated(self.topics_, moments.counts)
        return self._next_iteration(moments.iteration + 1)

    def _next_iteration(self, iteration: int) -> ExpectedCounts | None:
        return ExpectedCounts.of(self.topics_, iteration) if iteration <= self.em_iterations else None

    def init_kept_moments(self, corpus: Corpus[Sequence[str]]) -> DocumentLog:
        """Return an empty log of documents: the passes depend on one another."""
        return DocumentLog()

    def solve_kept(self, moments: DocumentLog) -> Self:
        """Learn from a log of documents: the passes run again over it."""
        self.validate()
        return self._run_passes(moments.corpus())

    def transform(self, documents: Iterable[Sequence[str]]) -> Floats:
        """Return the mixture of topics in each document, float64 (n_documents, k); see `mixtures_of`."""
        self.check_is_fitted()
        return mixtures_of(self.topics_, documents)
