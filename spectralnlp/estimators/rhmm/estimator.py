"""The estimator ``rhmm``: tags are observed, their refinements are found by SVD.

A ``fit`` is the three moves: one pass turns tagged sentences into integers (``TagLog``); an SVD of each tag's
cross-covariances, of the past with the word and the future, and of the word with all around it, gives every
token vectors; means of their outer products are the parameters (``tensors.py``), or clusters of them are
refinements that can be counted (``states.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Self

import numpy as np

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator, fit_pass
from spectralnlp.estimators.rhmm.features import token_features
from spectralnlp.estimators.rhmm.states import Skeleton, count_states, polish, random_counts, state_model
from spectralnlp.estimators.rhmm.taglog import TaggedSentence, TagLog, TagTable
from spectralnlp.estimators.rhmm.tensors import TagBigrams, spectral_model
from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import (
    Directions,
    ProjectionOptions,
    Projections,
    group_directions,
    project_groups,
)
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.linalg import one_blas_thread
from spectralnlp.parameters import Ints, RefinedMarkov
from spectralnlp.runtime import Corpus, InMemoryCorpus, accumulate
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.features import NodeFeatures

TENSORS, CLUSTERS, EM = "tensors", "clusters", "em"
_HARD, _SOFT = 0.05, 0.01  # α of counted refinements, and of those that EM has softened
_NOISE = 0.1  # of EM's random start
_WORD_PRIOR = 0.5  # half of what the parser's lexicon wants


class RefinementHMM(Estimator):
    """A hidden Markov model over tags whose refinements are latent, spectral.

    Args:
        models: ``tensors``, ``clusters``, ``em`` (from a random start) or several of them joined by ``+``,
            whose posteriors are averaged; those named again start from another seed.
        n_states: most refinements a tag may have (m) in the model of tensors; 1 is the supervised bigram HMM.
        n_clusters: the same in the models of clusters and of ``em``.
        column: the tags to learn, of CoNLL-U ``upos`` or ``xpos``, of columns their number from 1; the task
            reads them, ``fit`` is given them.
        min_feature_count: features seen less often with a tag are dropped.
        scaling: scale features by sqrt(1 / (count + kappa)).
        kappa: κ.
        shrinkage: ρ; Z is divided by σ_i + ρσ₁ rather than σ_i. 0 as published.
        min_singular_value: refinements whose σ_i / σ₁ is smaller are dropped.
        tokens_per_state: tokens that a tag needs for each refinement; 0 for no such bound.
        min_tokens: tags with fewer tokens have one refinement.
        smoothing: back off from a pair's tensor to moments of lower order.
        smoothing_strength: C; a pair of tags seen n times keeps √n / (C + √n) of its tensor.
        interpolate: mix p(b | a) with p(b), so that any tag can follow any other.
        cluster_dimensions: singular vectors of each side that tokens are clustered by.
        em_iterations: of EM on the tagged sentences from the clusters.
        random_em_iterations: the same for ``em``.
        signatures: signatures of unknown words, ``english``, ``neutral`` or, by the words seen, ``auto``.
        rare: words seen at most so often teach what signatures do.
        tag_weight: weight of a tag's mean vector in the vectors of its words.
        beam: tags less probable than this under one refinement a tag are left out; 0 for exact marginals.
        random_state: seed of the SVD, of the clusters and of ``em``.

    Attributes:
        models_: the :class:`~spectralnlp.parameters.RefinedMarkov` models.
        coarse_: the model of one refinement a tag, which prunes.
        n_sentences_, n_tokens_: how much it learned from.
    """

    kind = "spectral"
    change_of_mind = "replay"
    task = "tagging"
    presets: ClassVar = {
        "tutorial": {
            "models": TENSORS,
            "n_states": 8,
            "min_feature_count": 1.0,
            "shrinkage": 0.0,
            "min_singular_value": 0.01,
            "tokens_per_state": 0.0,
            "min_tokens": 0.0,
            "beam": 0.0,
        },
        "em": {"models": EM, "n_clusters": 16},
    }

    models_: tuple[RefinedMarkov, ...]
    coarse_: RefinedMarkov
    n_sentences_: int
    n_tokens_: int

    def __init__(
        self,
        models: str = TENSORS,
        n_states: int = 32,
        n_clusters: int = 32,
        column: str | int | None = None,
        min_feature_count: float = 2.0,
        scaling: bool = True,
        kappa: float = 5.0,
        shrinkage: float = 0.15,
        min_singular_value: float = 1e-6,
        tokens_per_state: float = 50.0,
        min_tokens: float = 20.0,
        smoothing: bool = True,
        smoothing_strength: float = 10.0,
        interpolate: bool = True,
        cluster_dimensions: int = 8,
        em_iterations: int = 1,
        random_em_iterations: int = 20,
        signatures: str = "auto",
        rare: int = 5,
        tag_weight: float = 0.1,
        beam: float = 3e-3,
        random_state: int = 0,
    ) -> None:
        self.models = models
        self.n_states = n_states
        self.n_clusters = n_clusters
        self.column = column
        self.min_feature_count = min_feature_count
        self.scaling = scaling
        self.kappa = kappa
        self.shrinkage = shrinkage
        self.min_singular_value = min_singular_value
        self.tokens_per_state = tokens_per_state
        self.min_tokens = min_tokens
        self.smoothing = smoothing
        self.smoothing_strength = smoothing_strength
        self.interpolate = interpolate
        self.cluster_dimensions = cluster_dimensions
        self.em_iterations = em_iterations
        self.random_em_iterations = random_em_iterations
        self.signatures = signatures
        self.rare = rare
        self.tag_weight = tag_weight
        self.beam = beam
        self.random_state = random_state

    def fit(self, corpus: Corpus[TaggedSentence] | Iterable[TaggedSentence], y: None = None) -> Self:
        """Learn from tagged sentences.

        Args:
            corpus: (words, tags) of each sentence; a corpus or a list.
            y: ignored.

        Raises:
            ConfigError: a setting that makes no sense.
            InputError: there are no tokens, or a sentence has more words than tags, or fewer.
        """
        self._wanted()
        examples = corpus if isinstance(corpus, Corpus) else InMemoryCorpus(corpus)
        with fit_pass("sentences"):
            log = accumulate(self.no_moments(examples), examples)
        self.solve(log)
        return self

    def no_moments(self, corpus: Corpus[TaggedSentence]) -> TagLog:
        """A log of sentences that has none yet, whatever the corpus."""
        return TagLog()

    def solve(self, log: TagLog) -> None:
        """Set the fitted attributes from a log of sentences.

        Raises:
            ConfigError, InputError: as `fit`.
        """
        wanted, table = self._wanted(), log.table()
        if not table.n_tokens:
            raise InputError("no tagged words to learn from", hint="give at least one tagged sentence")
        self.n_sentences_, self.n_tokens_ = int(table.sentence[-1]) + 1, table.n_tokens
        scheme = self._signature_scheme(table)
        with one_blas_thread():
            self._learn(table, scheme, wanted)

    def _learn(self, table: TagTable, scheme: str, wanted: list[str]) -> None:
        with fit_pass("features"):
            features = token_features(table, signature_by_name(scheme))
        with fit_pass("SVD of the chain"):
            chain = self._directions(table, features.chain, wanted)
        skeleton = Skeleton.of(table, TagBigrams.of(table, interpolate=self.interpolate))
        models = []
        for seed, name in enumerate(wanted):
            with fit_pass(name):
                if name == TENSORS:
                    models.append(self._tensor_model(table, chain, features.word, scheme, wanted))
                else:
                    models.append(self._counted_model(skeleton, chain, scheme, name, seed))
        self.models_ = tuple(models)
        one = np.ones(len(table.tags), np.int32)
        single = count_states(skeleton, np.zeros(table.n_tokens, np.int32), one)
        self.coarse_ = state_model(skeleton, single, one, 0.0, scheme, self._lexicon())

    def _tensor_model(
        self, table: TagTable, chain: Directions, words: NodeFeatures, scheme: str, wanted: list[str]
    ) -> RefinedMarkov:
        """Means of outer products of the projected tokens."""
        options = self._projection_options(wanted)

        def project(directions: Directions) -> Projections:
            return project_groups(len(table.tags), table.weight, directions, options)

        return spectral_model(
            table, project(chain), project(self._directions(table, words, wanted)), scheme,
            SmoothingOptions(self.smoothing, self.smoothing_strength), self._lexicon(),
            interpolate=self.interpolate,
        )  # fmt: skip

    def _counted_model(
        self, skeleton: Skeleton, chain: Directions, scheme: str, name: str, seed: int
    ) -> RefinedMarkov:
        """Refinements from clusters or from noise, counted and polished by EM."""
        table = skeleton.table
        n_states = self._wanted_states(table)
        if name == EM:
            counts = random_counts(
                skeleton, n_states, noise=_NOISE, random_state=self.random_state + 1000 * seed
            )
            first, iterations = 0.0, self.random_em_iterations  # noise is all that tells the states apart
        else:
            state, n_states = cluster_nodes(
                table.n_tokens, chain, n_states, dimensions=self.cluster_dimensions,
                random_state=[self.random_state, seed],
            )  # fmt: skip
            counts, first, iterations = count_states(skeleton, state, n_states), _HARD, self.em_iterations
        counts = polish(skeleton, counts, n_states, iterations, first=first, smoothing=_SOFT)
        smoothing = _SOFT if iterations else _HARD
        return state_model(skeleton, counts, n_states, smoothing, scheme, self._lexicon())

    def _directions(self, table: TagTable, features: NodeFeatures, wanted: list[str]) -> Directions:
        options = self._projection_options(wanted)
        return group_directions(table.tag, len(table.tags), table.weight, features, options)

    def _wanted_states(self, table: TagTable) -> Ints:
        tokens = np.bincount(table.tag, table.weight, len(table.tags))
        bound = tokens / self.tokens_per_state if self.tokens_per_state else tokens
        return np.clip(bound, 1, self.n_clusters).astype(np.int32)

    def _signature_scheme(self, table: TagTable) -> str:
        if self.signatures != "auto":
            signature_by_name(self.signatures)
            return self.signatures
        language = Conventions.learn(table.words[w] for w in table.word[:_ENOUGH].tolist()).language
        return "english" if language == "en" else "neutral"

    def _wanted(self) -> list[str]:
        wanted = self.models.split("+")
        for name in wanted:
            if name not in (TENSORS, CLUSTERS, EM):
                what = f"RefinementHMM.models: no model is called {name!r}"
                raise ConfigError(what, hint=f"use {TENSORS}, {CLUSTERS}, {EM} or several with +")
        for name in ("n_states", "n_clusters", "cluster_dimensions"):
            if getattr(self, name) < 1:
                raise ConfigError(f"RefinementHMM.{name} is at least 1, not {getattr(self, name)}")
        return wanted

    def _projection_options(self, wanted: list[str]) -> ProjectionOptions:
        return ProjectionOptions(
            n_states=self.n_states,
            nodes_per_state=self.tokens_per_state,
            min_nodes=self.min_tokens,
            min_feature_count=self.min_feature_count,
            scaling=self.scaling,
            kappa=self.kappa,
            shrinkage=self.shrinkage,
            min_singular_value=self.min_singular_value,
            min_rank=self.cluster_dimensions if CLUSTERS in wanted else 0,
            random_state=self.random_state,
        )

    def _lexicon(self) -> LexiconOptions:
        return LexiconOptions(rare=self.rare, tag_weight=self.tag_weight, word_prior=_WORD_PRIOR)


_ENOUGH = 5000  # tokens that tell English from other languages
