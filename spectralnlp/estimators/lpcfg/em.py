"""Latent-variable PCFGs by EM on observed trees (Matsuzaki et al. 2005): the peer of spectral learning.

From a random start it is what spectral learning is measured against; from the clusters of spectral learning
it polishes them.
"""

from __future__ import annotations

from typing import Literal, Self, get_args

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import fit_pass
from spectralnlp.estimators.lpcfg.estimator import binariser_of, plain_grammar, read_table, word_counts
from spectralnlp.estimators.lpcfg.states import (
    Skeleton,
    StateCounts,
    count_states,
    polish,
    probabilities,
    random_counts,
    state_grammar,
)
from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.grammars import GrammarEstimator
from spectralnlp.estimators.shared.language import head_rules, signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions, find_directions
from spectralnlp.linalg import one_blas_thread
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.runtime import Corpus
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Tree, Unaries
from spectralnlp.trees.features import node_features

Start = Literal["random", "clusters"]
_CLUSTER_DIMENSIONS = 8  # as LPCFG's default


class LatentEM(GrammarEstimator):
    """A latent-variable PCFG by EM.

    Args:
        n_states: most states a symbol may have.
        iterations: of EM.
        start: ``random``, or ``clusters`` of nodes in the space of the singular vectors.
        noise: how far a random start is from even shares, in [0, 1].
        smoothing: weight of the mean over a symbol's states after each iteration; with 0 the likelihood
            never falls.
        nodes_per_state: nodes that a symbol needs for each state; 0 for no such bound.
        binarisation: ``head`` (outward from the head), ``left`` or ``right``, perhaps with ``^1`` for parent
            annotation.
        unaries: ``compress`` unary chains to (top, bottom), or ``collapse`` them into one label.
        heads: head rules, ``english``, ``neutral`` or, by the words of the first trees, ``auto``.
        signatures: signatures of rare words, ``english``, ``neutral`` or ``auto``.
        rare: words seen at most so often teach what signatures do.
        keep_rare_words: keep rare words in the lexicon, smoothed; otherwise signatures replace them.
        tag_weight: weight of a tag's mean vector in the vectors of its words.
        bracket_price: γ of the ``mbr`` decoder, the parser's default.
        random_state: seed of the start.

    Attributes:
        grammar_sets_: one.
        log_likelihoods_: of the trees (natural), under the parameters that each iteration began with.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.
    """

    kind = "head"
    change_of_mind = "none"

    def __init__(
        self,
        n_states: int = 8,
        iterations: int = 40,
        start: Start = "random",
        noise: float = 0.5,
        smoothing: float = 0.01,
        nodes_per_state: float = 50.0,
        binarisation: str = "head",
        unaries: Unaries = "compress",
        heads: str = "auto",
        signatures: str = "auto",
        rare: int = 5,
        keep_rare_words: bool = True,
        tag_weight: float = 0.1,
        bracket_price: float = 0.4,
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.iterations = iterations
        self.start = start
        self.noise = noise
        self.smoothing = smoothing
        self.nodes_per_state = nodes_per_state
        self.binarisation = binarisation
        self.unaries = unaries
        self.heads = heads
        self.signatures = signatures
        self.rare = rare
        self.keep_rare_words = keep_rare_words
        self.tag_weight = tag_weight
        self.bracket_price = bracket_price
        self.random_state = random_state

    def fit(self, corpus: Corpus[Tree], y: None = None) -> Self:
        """Learn a grammar.

        Args:
            corpus: cleaned trees (``spectralnlp.trees.clean``).
            y: ignored.

        Raises:
            ConfigError: a setting that makes no sense.
            InputError: there are no trees.
        """
        self._check_settings()
        self.heads_ = head_rules(self.heads, corpus)
        binariser = binariser_of(self.binarisation, unaries=self.unaries, heads=self.heads_)
        with fit_pass("trees"):
            table, chains = read_table(corpus, binariser)
        self.n_trees_, self.word_counts_ = table.n_trees, word_counts(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        skeleton = Skeleton.of(table)
        with one_blas_thread(), fit_pass("start"):
            start = self._start(skeleton)
        with fit_pass("EM"):
            grammar = self._polished(skeleton, start)
        coarse = plain_grammar(table, self.signatures_, self._lexicon())
        self.grammar_sets_ = (GrammarSet(binariser, chains, coarse, None, (grammar,)),)
        self.decoder_, self.decoder_settings_ = "mbr", {"gamma": self.bracket_price}
        return self

    def _check_settings(self) -> None:
        if self.start not in get_args(Start):
            raise ConfigError(f"no start is called {self.start!r}", hint="use random or clusters")
        if self.iterations < 1:
            raise ConfigError(f"iterations is {self.iterations}", hint="use 1 or more")
        if not 0 <= self.noise <= 1:
            raise ConfigError(f"noise is {self.noise}", hint="use a number from 0 to 1")

    def _start(self, skeleton: Skeleton) -> StateCounts:
        """Counts with states that EM can begin from."""
        wanted = skeleton.wanted_states(self.n_states, self.nodes_per_state)
        if self.start == "random":
            return random_counts(skeleton, wanted, noise=self.noise, random_state=self.random_state)
        table = skeleton.table
        options = ProjectionOptions(
            self.n_states, self.nodes_per_state, min_rank=_CLUSTER_DIMENSIONS, random_state=self.random_state
        )
        features = node_features(table, "rich", signature_by_name(self.signatures_))
        state, n_states = cluster_nodes(
            table.n_nodes,
            find_directions(table, features, options),
            wanted,
            dimensions=_CLUSTER_DIMENSIONS,
            random_state=[self.random_state],
        )
        return count_states(skeleton, state, n_states)

    def _polished(self, skeleton: Skeleton, start: StateCounts) -> LatentGrammar:
        first = probabilities(skeleton, start, self.smoothing)
        counts, self.log_likelihoods_ = polish(skeleton, first, self.iterations, self.smoothing)
        return state_grammar(skeleton, counts, self.smoothing, self.signatures_, self._lexicon())

    def _lexicon(self) -> LexiconOptions:
        return LexiconOptions(rare=self.rare, keep_rare=self.keep_rare_words, tag_weight=self.tag_weight)
