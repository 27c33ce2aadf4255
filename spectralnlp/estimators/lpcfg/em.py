"""Latent-variable PCFGs by EM on observed trees (Matsuzaki et al. 2005): the peer of spectral learning.

From a random start it is what spectral learning is measured against; from the clusters of spectral learning
it polishes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.estimator import IterativeEstimator, fit_pass
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
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.runtime import Corpus
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Tree, Unaries
from spectralnlp.trees.features import node_features

Start = Literal["random", "clusters"]
_CLUSTER_DIMENSIONS = 8  # as LPCFG's default


@dataclass(kw_only=True, eq=False, repr=False)
class LatentEM(GrammarEstimator, IterativeEstimator[Tree]):
    """A latent-variable PCFG by EM.

    Attributes:
        grammar_sets_: one.
        log_likelihoods_: of the trees (natural), under the parameters that each iteration began with.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.
    """

    n_states: Annotated[int, Ge(1), Doc("Most states a symbol may have.")] = 8
    iterations: Annotated[int, Ge(1), Doc("Iterations of EM.")] = 40
    start: Annotated[
        Start,
        Doc("``random``, or ``clusters`` of nodes in the space of the singular vectors."),
    ] = "random"
    noise: Annotated[float, Ge(0), Le(1), Doc("How far a random start is from even shares, in [0, 1].")] = 0.5
    smoothing: Annotated[
        float,
        Ge(0),
        Doc(
            "Weight of the mean over a symbol's states after each iteration; with 0 the likelihood "
            "never falls."
        ),
    ] = 0.01
    nodes_per_state: Annotated[
        float,
        Ge(0),
        Doc("Nodes that a symbol needs for each state; 0 for no such bound."),
    ] = 50.0
    binarisation: Annotated[
        str,
        Doc(
            "``head`` (outward from the head), ``left`` or ``right``, perhaps with ``^1`` for parent "
            "annotation."
        ),
    ] = "head"
    unaries: Annotated[
        Unaries,
        Doc("``compress`` unary chains to (top, bottom), or ``collapse`` them into one label."),
    ] = "compress"
    heads: Annotated[
        str,
        Doc("Head rules, ``english``, ``neutral`` or, by the words of the first trees, ``auto``."),
    ] = "auto"
    signatures: Annotated[
        str,
        Doc("Signatures of rare words, ``english``, ``neutral`` or ``auto``."),
    ] = "auto"
    rare: Annotated[int, Ge(0), Doc("Words seen at most so often teach what signatures do.")] = 5
    keep_rare_words: Annotated[
        bool,
        Doc("Keep rare words in the lexicon, smoothed; otherwise signatures replace them."),
    ] = True
    tag_weight: Annotated[
        float,
        Ge(0),
        Doc("Weight of a tag's mean vector in the vectors of its words."),
    ] = 0.1
    bracket_price: Annotated[float, Doc("γ of the ``mbr`` decoder, the parser's default.")] = 0.4
    random_state: Annotated[int, Ge(0), Doc("Seed of the start.")] = 0

    def learn(self, corpus: Corpus[Tree]) -> None:
        """Read the trees, start and iterate.

        Args:
            corpus: cleaned trees (``spectralnlp.trees.clean``).

        Raises:
            ConfigError: there is no binarisation of that name.
            InputError: there are no trees.
        """
        self.heads_ = head_rules(self.heads, corpus)
        binariser = binariser_of(self.binarisation, unaries=self.unaries, heads=self.heads_)
        with fit_pass("trees"):
            table, chains = read_table(corpus, binariser)
        self.n_trees_, self.word_counts_ = table.n_trees, word_counts(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        skeleton = Skeleton.of(table)
        with fit_pass("start"):
            start = self._start(skeleton)
        with fit_pass("EM"):
            grammar = self._polished(skeleton, start)
        coarse = plain_grammar(table, self.signatures_, self._lexicon())
        self.grammar_sets_ = (
            GrammarSet(binariser=binariser, chains=chains, coarse=coarse, pruner=None, grammars=(grammar,)),
        )
        self.decoder_, self.decoder_settings_ = "mbr", {"gamma": self.bracket_price}

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
