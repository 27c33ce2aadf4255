"""The ``rhmm`` estimator: hidden Markov models over observed tags whose latent refinements are found by SVD.

One pass encodes the tagged sentences as integers (``TagLog``). For each tag, two cross-covariances of token
features are decomposed by SVD: the past with the word and future, and the word with its context. The singular
vectors give every token low-dimensional vectors. Parameters are means of their outer products (``solve.py``),
or the vectors are clustered, and the clusters are counted as refinements (``states.py``).
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
from spectralnlp.runtime import Corpus, paired
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.text.tag_log import TagLog
from spectralnlp.trees.features import NodeFeatures

TENSORS, CLUSTERS, EM = "tensors", "clusters", "em"
_NOISE = 0.1  # relative noise of EM's random start
_WORD_PRIOR = 0.5  # half of the value that is best for the lexicon of parsers
_LANGUAGE_TOKENS = 5000  # number of tokens used to recognise English

# The tensor of a tag pair seen n times has the weight √n / (C + √n); C is half of the best value for
# grammars.
_SMOOTHING = SmoothingOptions(smoothing=True, smoothing_strength=10.0)

# Published settings: keep rare features, use the exact Σ⁻¹, and bound refinements by singular values alone.
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
    Doc(
        "Prune tags with a lower probability under the coarse model, which has one refinement per tag; 0 for "
        "exact marginals."
    ),
]


@dataclass(kw_only=True, eq=False, repr=False)
class RefinementHMM(MomentEstimator[TaggedSentence]):
    """Hidden Markov model over tags with latent refinements, learned by a spectral method.

    Attributes:
        models_: the learned :class:`~spectralnlp.parameters.RefinedMarkov` models.
        coarse_: model with one refinement per tag, used for pruning.
        n_sentences_, n_tokens_: numbers of training sentences and tokens.

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
            "Kinds of models: ``tensors``, ``clusters`` or ``em`` (with a random start). Join several with "
            "``+`` to average their posteriors; repeated kinds have different seeds."
        ),
    ] = TENSORS
    n_states: Annotated[
        int,
        Ge(1),
        Le(1_000_000),
        Doc(
            "Maximum number of refinements per tag (m) in the model of tensors; with 1 it is the supervised "
            "bigram HMM."
        ),
    ] = field(default=32, kw_only=False)
    n_clusters: Annotated[
        int,
        Ge(1),
        Doc("Maximum number of refinements per tag in models of ``clusters`` and ``em``."),
    ] = 32
    column: Annotated[
        str | int | None,
        Doc(
            "Which tags to learn: ``upos`` or ``xpos`` for CoNLL-U files, the number of the column, from 1, "
            "for other files. ``fit`` ignores this, because it is given the tags."
        ),
    ] = None
    projection: Annotated[
        Literal["shrunk", "published"],
        Doc(
            "``shrunk``: shrink noisy directions, allow a tag one refinement per 50 tokens, and mix a tenth "
            "of the tag's mean vector into the vectors of its words; ``published``: none of these."
        ),
    ] = "shrunk"
    em_iterations: Annotated[
        int, Ge(0), Le(1000), Doc("Number of EM iterations of ``em``; ``clusters`` are refined by one.")
    ] = 20
    signatures: settings.Signatures = settings.AUTO
    beam: Beam = 3e-3
    random_state: settings.RandomState = settings.RANDOM_STATE

    def check_combination(self) -> None:
        """Check that the setting ``models`` names only kinds of models that exist.

        Raises:
            ConfigError: the name of a model is unknown.
        """
        for name in self._model_names:
            if name not in (TENSORS, CLUSTERS, EM):
                what = f"RefinementHMM.models: no model is called {name!r}"
                raise ConfigError(what, hint=f"use {TENSORS}, {CLUSTERS}, {EM} or several with +")

    @property
    def _model_names(self) -> list[str]:
        return self.models.split("+")

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[TaggedSentence]:
        """Return tagged sentences as a corpus.

        Args:
            X: pairs of words and tags; or the words of each sentence.
            y: the tags of each sentence; None if ``X`` holds them.

        Raises:
            ConfigError: ``X`` is not an iterable of examples.
            InputError: ``X`` and ``y`` differ in length, or an element is no tagged sentence.
        """
        return super().as_corpus(X if y is None else paired(X, y))

    def init_moments(self, corpus: Corpus[TaggedSentence]) -> TagLog:
        """Return an empty log, which stores the tagged sentences of the training data."""
        return TagLog()

    def solve(self, moments: TagLog) -> None:
        """Learn the models from logged sentences, by the spectral method, by clustering or by EM.

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
        """Estimate a model whose parameters are means of outer products of token vectors.

        Args:
            table: tokens of tagged sentences.
            bigrams: bigram probabilities of tags.
            chain: projected features of each token, for transitions: features of the past (outside), and
                features of the word and the future (inside).
            word_features: features of each token, for emissions: features of the word (inside), and features
                of its context (outside).
            lexicon: options of the lexicon.
        """
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
        """Estimate a model by EM over latent states, which are initialised by clustering or at random.

        Args:
            index: the tag bigrams and (word, tag) pairs of the training data.
            chain: projected features of the tokens, which are clustered.
            lexicon: options of the lexicon.
            name: kind of the model: ``clusters`` (clustered initial states) or ``em`` (random ones).
            seed: index of the model, so that models differ in their random choices.
        """
        n_states = index.nodes.wanted_states(self.n_clusters, self._projection_options().nodes_per_state)
        if name == EM:
            counts = index.random_counts(n_states, noise=_NOISE, random_state=self.random_state + 1000 * seed)
            # No smoothing at first: it would reduce the noise, which alone distinguishes the states.
            first, iterations = 0.0, self.em_iterations
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
        return LexiconOptions(
            scheme=signature_scheme(self.signatures, first_words),
            # A constant weight would make the published estimate inconsistent.
            tag_weight=0.0 if self.projection == "published" else settings.TAG_WEIGHT,
            word_prior=_WORD_PRIOR,
        )
