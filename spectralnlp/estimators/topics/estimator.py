"""The ``topics`` estimator: the single-topic model and latent Dirichlet allocation, learned from moments."""

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
    DocumentLog,
    ExpectedCounts,
    PairMoments,
    TripleMoments,
    choose_vocabulary,
)
from spectralnlp.estimators.topics.solve import (
    Whitened,
    reestimated,
    third_moment,
    topics_of_tensor,
    whitening_of_pairs,
)
from spectralnlp.inference.topics.mixtures import mixtures_of
from spectralnlp.linalg.rank import Spectrum, sampling_noise, usable_rank
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, Moments


@dataclass(kw_only=True, eq=False, repr=False)
class TopicModel(MomentEstimator[Sequence[str]]):
    """Topic model learned by tensor decomposition (Anandkumar et al. 2012, 2014) and refined by EM.

    The first pass over the data counts words, to choose the vocabulary. The second counts pairs of words,
    whose second moment is whitened. The third computes the whitened third moment, a k × k × k tensor, which
    is decomposed. A few further passes of EM then improve the topics.

    Attributes:
        topics_: the learned :class:`~spectralnlp.parameters.TopicMixture`.
        eigenvalues_: float64 (k,); leading eigenvalues of the second moment, descending.
        spectrum_: those that were used, with the size that sampling errors alone would have,
            :class:`~spectralnlp.linalg.rank.Spectrum`.
        n_documents_: number of training documents with at least three words of the vocabulary.

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
    spectrum_: Spectrum = field(init=False)
    n_documents_: int = field(init=False)

    n_topics: Annotated[
        int, Ge(1), Doc("Number of topics (k); lowered with a warning if the data has a lower rank.")
    ] = field(default=20, kw_only=False)
    alpha0: Annotated[
        float,
        Ge(0),
        Le(1e6),
        Doc("Concentration α0 of documents' topic mixtures; 0 for the single-topic model."),
    ] = 1.0
    scaling: Annotated[
        bool, Doc("Divide word counts by the square roots of word frequencies before whitening.")
    ] = False
    em_iterations: Annotated[
        int, Ge(0), Le(1000), Doc("Number of EM iterations after the decomposition.")
    ] = 1
    min_documents: Annotated[
        int, Ge(0), Doc("Minimum number of documents that contain a word of the vocabulary.")
    ] = 5
    max_share: Annotated[
        float, Ge(0), Le(1), Doc("Maximum share of all documents that contain a word of the vocabulary.")
    ] = 0.1
    max_words: Annotated[
        int, Ge(1), Doc("Maximum size of the vocabulary, words in the most documents first.")
    ] = 5000
    random_state: Annotated[int, Ge(0), Doc("Seed of the SVD and of the tensor power method.")] = 0

    def init_moments(self, corpus: Corpus[Sequence[str]]) -> DocumentFrequencies:
        """Return empty counts of the documents in which each word occurs, for the first pass."""
        return DocumentFrequencies()

    @singledispatchmethod
    def solve(self, moments: Any) -> Moments[Sequence[str]] | None:
        """Process the moments of a pass, and return empty moments for the next pass, or None after the last.

        The passes collect document frequencies, pairs of words, triples of words, and the expected counts of
        each EM iteration.

        Raises:
            InputError: no word or no document is left to learn from.
        """
        raise TypeError(f"TopicModel has no pass with moments of type {type(moments).__name__}")

    @solve.register
    def _choose_vocabulary(self, moments: DocumentFrequencies) -> PairMoments:
        """Choose the vocabulary after the first pass: words that are neither too rare nor too frequent."""
        return PairMoments(choose_vocabulary(moments, self.min_documents, self.max_share, self.max_words))

    @solve.register
    def _whiten(self, moments: PairMoments) -> TripleMoments:
        """Whiten the second moment after the second pass."""
        if not moments.n_documents:
            what = "no document has three words of the vocabulary"
            raise InputError(what, hint="documents are lines; lower min_documents or raise max_share")
        self.n_documents_ = moments.n_documents
        vocabulary = list(moments.vocabulary)
        first, pairs = moments.means()
        # A word that only occurs in documents that are too short has no moments.
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
        variances = np.ones(len(first)) if self.scaling else first
        noise = sampling_noise(variances, variances, moments.n_pairs)
        self.spectrum_ = Spectrum(self.eigenvalues_[:rank], noise)
        self._whitened_ = Whitened(first=first, pairs=pairs, whitener=W[:, :rank], back=back[:, :rank])
        return TripleMoments(vocabulary, self._whitened_.whitener)

    @solve.register
    def _decompose(self, moments: TripleMoments) -> ExpectedCounts | None:
        """Decompose the whitened third moment into topics after the third pass."""
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
        """Take an M-step of EM after each further pass."""
        self.topics_ = reestimated(self.topics_, moments.counts)
        return self._next_iteration(moments.iteration + 1)

    def _next_iteration(self, iteration: int) -> ExpectedCounts | None:
        return ExpectedCounts.of(self.topics_, iteration) if iteration <= self.em_iterations else None

    def remarks(self) -> list[str]:
        """Return a line if the data bear fewer topics than were used."""
        return self.spectrum_.remarks("n_topics")

    def init_kept_moments(self, corpus: Corpus[Sequence[str]]) -> DocumentLog:
        """Return an empty log of documents, for incremental updates and unlearning.

        The documents are kept, not their moments, because each pass depends on the results of earlier passes.
        """
        return DocumentLog()

    def solve_kept(self, moments: DocumentLog) -> Self:
        """Learn topics from a log of documents, by running all passes over it."""
        self.validate()
        return self._run_passes(moments.corpus())

    def transform(self, documents: Iterable[Sequence[str]]) -> Floats:
        """Infer the mixture of topics in each document, float64 (n_documents, k); see `mixtures_of`."""
        self.check_is_fitted()
        return mixtures_of(self.topics_, documents)
