"""The estimator ``rhmm``: tags are observed, their refinements are found by SVD.

A ``fit`` is the three moves: one pass turns tagged sentences into integers (``TagLog``); an SVD of each tag's
cross-covariances, of the past with the word and the future, and of the word with all around it, gives every
token vectors; means of their outer products are the parameters (``tensors.py``), or clusters of them are
refinements that can be counted (``states.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import MomentEstimator, fit_pass
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
from spectralnlp.parameters import Ints, RefinedMarkov
from spectralnlp.runtime import Corpus
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees.features import NodeFeatures

TENSORS, CLUSTERS, EM = "tensors", "clusters", "em"
_HARD, _SOFT = 0.05, 0.01  # α of counted refinements, and of those that EM has softened
_NOISE = 0.1  # of EM's random start
_WORD_PRIOR = 0.5  # half of what the parser's lexicon wants


@dataclass(kw_only=True, eq=False, repr=False)
class RefinementHMM(MomentEstimator[TaggedSentence]):
    """A hidden Markov model over tags whose refinements are latent, spectral.

    Attributes:
        models_: the :class:`~spectralnlp.parameters.RefinedMarkov` models.
        coarse_: the model of one refinement a tag, which prunes.
        n_sentences_, n_tokens_: how much it learned from.
    """

    unlearning = "replay"
    task = "tagging"
    tagger = "rhmm"
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

    models_: tuple[RefinedMarkov, ...] = field(init=False)
    coarse_: RefinedMarkov = field(init=False)
    n_sentences_: int = field(init=False)
    n_tokens_: int = field(init=False)

    models: Annotated[
        str,
        Doc(
            "``tensors``, ``clusters``, ``em`` (from a random start) or several of them joined by "
            "``+``, whose posteriors are averaged; those named again start from another seed."
        ),
    ] = TENSORS
    n_states: Annotated[
        int,
        Ge(1),
        Doc("Most refinements a tag may have (m) in the model of tensors; 1 is the supervised bigram HMM."),
    ] = 32
    n_clusters: Annotated[
        int,
        Ge(1),
        Doc("Most refinements a tag may have in the models of clusters and of ``em``."),
    ] = 32
    column: Annotated[
        str | int | None,
        Doc(
            "The tags to learn, of CoNLL-U ``upos`` or ``xpos``, of columns their number from 1; the "
            "task reads them, ``fit`` is given them."
        ),
    ] = None
    min_feature_count: Annotated[float, Ge(0), Doc("Features seen less often with a tag are dropped.")] = 2.0
    scaling: Annotated[bool, Doc("Scale features by sqrt(1 / (count + kappa)).")] = True
    kappa: Annotated[float, Ge(0), Doc("κ.")] = 5.0
    shrinkage: Annotated[
        float,
        Ge(0),
        Doc("ρ; Z is divided by σ_i + ρσ₁ rather than σ_i. 0 as published."),
    ] = 0.15
    min_singular_value: Annotated[
        float,
        Ge(0),
        Doc("Refinements whose σ_i / σ₁ is smaller are dropped."),
    ] = 1e-6
    tokens_per_state: Annotated[
        float,
        Ge(0),
        Doc("Tokens that a tag needs for each refinement; 0 for no such bound."),
    ] = 50.0
    min_tokens: Annotated[float, Ge(0), Doc("Tags with fewer tokens have one refinement.")] = 20.0
    smoothing: Annotated[bool, Doc("Back off from a pair's tensor to moments of lower order.")] = True
    smoothing_strength: Annotated[
        float,
        Ge(0),
        Doc("C; a pair of tags seen n times keeps √n / (C + √n) of its tensor."),
    ] = 10.0
    interpolate: Annotated[bool, Doc("Mix p(b | a) with p(b), so that any tag can follow any other.")] = True
    cluster_dimensions: Annotated[
        int,
        Ge(1),
        Doc("Singular vectors of each side that tokens are clustered by."),
    ] = 8
    em_iterations: Annotated[int, Ge(0), Doc("Of EM on the tagged sentences from the clusters.")] = 1
    random_em_iterations: Annotated[int, Ge(0), Doc("Iterations of EM from a random start, of ``em``.")] = 20
    signatures: Annotated[
        str,
        Doc("Signatures of unknown words, ``english``, ``neutral`` or, by the words seen, ``auto``."),
    ] = "auto"
    rare: Annotated[int, Ge(0), Doc("Words seen at most so often teach what signatures do.")] = 5
    tag_weight: Annotated[
        float,
        Ge(0),
        Doc("Weight of a tag's mean vector in the vectors of its words."),
    ] = 0.1
    beam: Annotated[
        float,
        Ge(0),
        Doc("Tags less probable than this under one refinement a tag are left out; 0 for exact marginals."),
    ] = 3e-3
    random_state: Annotated[int, Ge(0), Doc("Seed of the SVD, of the clusters and of ``em``.")] = 0

    def check_combination(self) -> None:
        """Check the names of models.

        Raises:
            ConfigError: there is no model of that name.
        """
        self._wanted()

    def init_moments(self, corpus: Corpus[TaggedSentence]) -> TagLog:
        """Return an empty log of tagged sentences."""
        return TagLog()

    def solve(self, moments: TagLog) -> None:
        """Decompose, project, then average or count: the passes of the method, replayed from the log.

        Raises:
            InputError: there are no tokens.
        """
        wanted, table = self._wanted(), moments.table()
        if not table.n_tokens:
            raise InputError("no tagged words to learn from", hint="give at least one tagged sentence")
        self.n_sentences_, self.n_tokens_ = int(table.sentence[-1]) + 1, table.n_tokens
        scheme = self._signature_scheme(table)
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
