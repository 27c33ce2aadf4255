"""The estimator ``rhmm``: tags are observed, their refinements are found by SVD.

A ``fit`` is the three moves: one pass turns tagged sentences into integers (``TagLog``); an SVD of each tag's
cross-covariances, of the past with the word and the future, and of the word with all around it, gives every
token vectors; means of their outer products are the parameters (``solve.py``), or clusters of them are
refinements that can be counted (``states.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import MomentEstimator
from spectralnlp.estimators.rhmm.features import token_features
from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.estimators.rhmm.solve import TagBigrams, spectral_model
from spectralnlp.estimators.rhmm.states import TagEventIndex, state_model
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.event_index import HARD_SMOOTHING, SOFT_SMOOTHING
from spectralnlp.estimators.shared.language import signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import (
    Directions,
    ProjectionOptions,
    find_directions,
    project_nodes,
)
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.parameters import RefinedMarkov
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.text.tag_log import TagLog
from spectralnlp.trees.features import NodeFeatures

TENSORS, CLUSTERS, EM = "tensors", "clusters", "em"
_NOISE = 0.1  # of EM's random start
_WORD_PRIOR = 0.5  # half of what the parser's lexicon wants
_LANGUAGE_TOKENS = 5000  # that tell English from other languages

# C; a pair of tags seen n times keeps √n / (C + √n) of its tensor. Half of what rules of trees want.
_SMOOTHING = SmoothingOptions(smoothing=True, smoothing_strength=10.0)

# As published rare features count, Σ⁻¹ is exact, and any tag has as many refinements as have signal.
_PUBLISHED: Mapping[str, Any] = {
    "nodes_per_state": 0.0,
    "min_nodes": 0.0,
    "min_feature_count": 1.0,
    "shrinkage": 0.0,
    "min_singular_value": 0.01,
}


Beam = Annotated[
    float,
    Ge(0),
    Doc("Tags less probable than this under one refinement a tag are left out; 0 for exact marginals."),
]


@dataclass(kw_only=True, eq=False, repr=False)
class RefinementHMM(MomentEstimator[TaggedSentence]):
    """A hidden Markov model over tags whose refinements are latent, spectral.

    Attributes:
        models_: the :class:`~spectralnlp.parameters.RefinedMarkov` models.
        coarse_: the model of one refinement a tag, which prunes.
        n_sentences_, n_tokens_: how much it learned from.

    Examples:
        >>> from spectralnlp import RefinementHMM
        >>> tags = ["DT", "NN", "VBZ"]
        >>> examples = [(["a", "dog", "barks"], tags), (["the", "cat", "sleeps"], tags)]
        >>> model = RefinementHMM(models="clusters", n_states=1).fit(examples * 10)
        >>> model.n_sentences_
        20
    """

    unlearning = "replay"
    task = "tagging"
    tagger = "rhmm"
    presets: ClassVar = {
        "tutorial": {
            "models": TENSORS,
            "n_states": 8,
            "projection": "published",
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
    ] = field(default=32, kw_only=False)
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
    projection: Annotated[
        Literal["shrunk", "published"],
        Doc(
            "``shrunk``: noisy directions are shrunk and a tag has a refinement for every 50 tokens; "
            "``published``: neither."
        ),
    ] = "shrunk"
    em_iterations: Annotated[
        int, Ge(0), Le(1000), Doc("Iterations of EM from a random start, of ``em``; clusters take one.")
    ] = 20
    signatures: settings.Signatures = settings.AUTO
    beam: Beam = 3e-3
    random_state: settings.RandomState = settings.RANDOM_STATE

    def check_combination(self) -> None:
        """Check the names of models.

        Raises:
            ConfigError: there is no model of that name.
        """
        for name in self._model_names:
            if name not in (TENSORS, CLUSTERS, EM):
                what = f"RefinementHMM.models: no model is called {name!r}"
                raise ConfigError(what, hint=f"use {TENSORS}, {CLUSTERS}, {EM} or several with +")

    @property
    def _model_names(self) -> list[str]:
        return self.models.split("+")

    def init_moments(self, corpus: Corpus[TaggedSentence]) -> TagLog:
        """Return an empty log of tagged sentences."""
        return TagLog()

    def solve(self, moments: TagLog) -> None:
        """Decompose, project, then average or count: the passes of the method, replayed from the log.

        Raises:
            InputError: there are no tokens.
        """
        table = TagTable.of(moments)
        if not table.n_tokens:
            raise InputError("no tagged words to learn from", hint="give at least one tagged sentence")
        self.n_sentences_, self.n_tokens_ = int(table.sentence[-1]) + 1, table.n_tokens
        lexicon = self._lexicon_options(table)
        with fit_pass("features"):
            features = token_features(table, signature_by_name(lexicon.scheme))
        with fit_pass("SVD of the chain"):
            chain = find_directions(table.nodes, features.chain, self._projection_options())
        bigrams = TagBigrams.of(table, interpolate=True)
        index = TagEventIndex.of(table, bigrams)
        models = []
        for seed, name in enumerate(self._model_names):
            with fit_pass(name):
                if name == TENSORS:
                    models.append(self._tensor_model(table, bigrams, chain, features.word, lexicon))
                else:
                    models.append(self._counted_model(index, chain, lexicon, name, seed))
        self.models_ = tuple(models)
        one_state = np.ones(len(table.tags), np.int32)
        single = index.count_states(np.zeros(table.n_tokens, np.int32), one_state)
        self.coarse_ = state_model(index, single, 0.0, lexicon)

    def _tensor_model(
        self,
        table: TagTable,
        bigrams: TagBigrams,
        chain: Directions,
        word_features: NodeFeatures,
        lexicon: LexiconOptions,
    ) -> RefinedMarkov:
        """Means of outer products of the projected tokens."""
        options = self._projection_options()
        words = find_directions(table.nodes, word_features, options)
        return spectral_model(
            table,
            project_nodes(table.nodes, chain, options),
            project_nodes(table.nodes, words, options),
            bigrams,
            _SMOOTHING,
            lexicon,
        )

    def _counted_model(
        self, index: TagEventIndex, chain: Directions, lexicon: LexiconOptions, name: str, seed: int
    ) -> RefinedMarkov:
        """Refinements from clusters or from noise, counted and refined by EM."""
        n_states = index.nodes.wanted_states(self.n_clusters, self._projection_options().nodes_per_state)
        if name == EM:
            counts = index.random_counts(n_states, noise=_NOISE, random_state=self.random_state + 1000 * seed)
            first, iterations = 0.0, self.em_iterations  # noise is all that tells the states apart
        else:
            counts = index.count_clusters(
                chain,
                n_states,
                dimensions=settings.CLUSTER_DIMENSIONS,
                random_state=[self.random_state, seed],
            )
            first, iterations = HARD_SMOOTHING, settings.EM_ITERATIONS
        counts, _ = index.refine(counts, iterations, first_smoothing=first)
        return state_model(index, counts, SOFT_SMOOTHING if iterations else HARD_SMOOTHING, lexicon)

    def _projection_options(self) -> ProjectionOptions:
        options = ProjectionOptions(
            n_states=self.n_states,
            nodes_per_state=settings.NODES_PER_STATE,
            min_rank=settings.CLUSTER_DIMENSIONS if CLUSTERS in self._model_names else 0,
            random_state=self.random_state,
        )
        return replace(options, **_PUBLISHED) if self.projection == "published" else options

    def _lexicon_options(self, table: TagTable) -> LexiconOptions:
        first_words = Counter(table.words[word] for word in table.word[:_LANGUAGE_TOKENS].tolist())
        return LexiconOptions(scheme=signature_scheme(self.signatures, first_words), word_prior=_WORD_PRIOR)
