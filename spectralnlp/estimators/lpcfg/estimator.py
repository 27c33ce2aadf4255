"""Latent-variable PCFGs by the spectral algorithm of Cohen, Stratos, Collins, Foster and Ungar (2012, 2013).

A ``fit`` is the three moves: one pass turns trees into integers (``TreeLog``); an SVD of each symbol's
cross-covariance between inside and outside features gives every node a vector (``projections.py``). From
there two roads lead to a grammar: means of outer products of these vectors are its tensors (``tensors.py``,
as published); or clusters of the vectors are states that can be counted (``clusters.py``, ``states.py``).
They err in different places, so the default takes both and decodes from their mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, cast, get_args

import numpy as np
from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import MomentEstimator, fit_pass
from spectralnlp.estimators.lpcfg.states import (
    SOFT_SMOOTHING,
    Skeleton,
    count_states,
    polish,
    probabilities,
    state_grammar,
)
from spectralnlp.estimators.lpcfg.tensors import root_vectors, rule_tensors, token_moments
from spectralnlp.estimators.shared.clusters import cluster_nodes
from spectralnlp.estimators.shared.grammars import GrammarEstimator
from spectralnlp.estimators.shared.language import head_rules, signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions, build_lexicon
from spectralnlp.estimators.shared.projections import (
    Directions,
    ProjectionOptions,
    Projections,
    find_directions,
    project_nodes,
)
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.runtime import Corpus, Joint, accumulate, map_kernels
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser, Direction, Tree, Unaries
from spectralnlp.trees.features import node_features
from spectralnlp.trees.treelog import TreeLog, TreeTable

Chains = dict[tuple[str, str], tuple[str, ...]]

TENSORS, CLUSTERS = "tensors", "clusters"
PLAIN, PRUNER = "plain grammar", "pruning grammar"
_LEAST_POSTERIOR = 1e-4  # of EM from clusters: nearly all of a node's mass is on a few of its states
_HARD_SMOOTHING = 0.05  # α of counted states that no EM has softened


@dataclass(kw_only=True, eq=False, repr=False)
class LPCFG(GrammarEstimator, MomentEstimator[Tree]):
    """A latent-variable PCFG, spectral.

    The default is what wins on small treebanks; ``preset=tutorial`` is the algorithm as published. Each of
    its ingredients has a switch: ``features`` (simple), ``absolute_marginals``, ``scaling``, ``smoothing``.

    Attributes:
        grammar_sets_: one for each binarisation.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.
    """

    unlearning = "replay"
    presets: ClassVar = {
        "tutorial": {
            "grammars": TENSORS,
            "n_states": 8,
            "features": "tutorial",
            "min_feature_count": 1.0,
            "shrinkage": 0.0,
            "min_singular_value": 0.01,
            "nodes_per_state": 0.0,
            "min_nodes": 0.0,
            "pruner_states": 0,
            "unaries": "collapse",
            "keep_rare_words": False,
            "tag_weight": 0.4,
            "decoder": "labelled-recall",
        },
        "fast": {"grammars": CLUSTERS, "n_clusters": 16},
        "best": {"binarisations": "head+left+right+head^1+left^1"},
    }

    grammars: Annotated[
        str,
        Doc(
            "``tensors``, ``clusters`` or several of them joined by ``+``; clusters that are named "
            "again start from another seed."
        ),
    ] = f"{TENSORS}+{CLUSTERS}+{CLUSTERS}"
    n_states: Annotated[int, Ge(1), Doc("Most states a symbol may have (m) in the grammar of tensors.")] = 24
    n_clusters: Annotated[int, Ge(1), Doc("Most states a symbol may have in the grammars of clusters.")] = 24
    features: Annotated[
        str,
        Doc("Set of inside and outside features, ``rich``, ``tutorial`` or ``simple``."),
    ] = "rich"
    min_feature_count: Annotated[float, Ge(0), Doc("Features seen less often in a symbol are dropped.")] = 2.0
    scaling: Annotated[bool, Doc("Scale features by sqrt(1 / (count + kappa)).")] = True
    kappa: Annotated[float, Ge(0), Doc("κ.")] = 5.0
    shrinkage: Annotated[
        float,
        Ge(0),
        Doc("ρ; Z is divided by σ_i + ρσ₁ rather than σ_i. 0 as published."),
    ] = 0.15
    min_singular_value: Annotated[float, Ge(0), Doc("States whose σ_i / σ₁ is smaller are dropped.")] = 1e-6
    nodes_per_state: Annotated[float, Ge(0), Doc("Nodes that a symbol needs for each state.")] = 50.0
    min_nodes: Annotated[float, Ge(0), Doc("Symbols with fewer nodes have one state.")] = 20.0
    smoothing: Annotated[bool, Doc("Back off from a rule's tensor to moments of lower order.")] = True
    smoothing_strength: Annotated[
        float,
        Ge(0),
        Doc("C; a rule seen n times keeps √n / (C + √n) of its tensor."),
    ] = 20.0
    cluster_dimensions: Annotated[
        int,
        Ge(1),
        Doc("Singular vectors of each side that nodes are clustered by."),
    ] = 8
    em_iterations: Annotated[int, Ge(0), Doc("Of EM on the observed trees, from the clusters.")] = 1
    pruner_states: Annotated[
        int,
        Ge(0),
        Doc("States of the grammar of clusters that thins forests; 0 for none."),
    ] = 8
    binarisations: Annotated[
        str,
        Doc(
            "``head`` (outward from the head), ``left`` or ``right``, each perhaps with ``^1`` for "
            "parent annotation; several, joined by ``+``, make a pool."
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
    decoder: Annotated[
        str,
        Doc("The parser's default: ``mbr``, ``max-rule`` or ``labelled-recall``."),
    ] = "mbr"
    bracket_price: Annotated[float, Doc("γ of ``mbr``.")] = 0.4
    absolute_marginals: Annotated[
        bool,
        Doc('Of ``labelled-recall``: take absolute values ("Negative Marginals").'),
    ] = True
    random_state: Annotated[int, Ge(0), Doc("Seed of the SVD and of the clusters.")] = 0

    def check_combination(self) -> None:
        """Check the names of grammars and binarisations.

        Raises:
            ConfigError: there is no grammar or binarisation of that name.
        """
        self._wanted()
        for name in self.binarisations.split("+"):
            parse_binarisation(name)

    def init_moments(self, corpus: Corpus[Tree]) -> Joint[Tree]:
        """A log of trees for each binarisation; head rules are those for the first trees."""
        names = self.binarisations.split("+")
        heads = head_rules(self.heads, corpus)
        binarisers = {name: binariser_of(name, unaries=self.unaries, heads=heads) for name in names}
        return Joint({name: TreeLog(binariser.to_dict()) for name, binariser in binarisers.items()})

    def solve(self, moments: Joint[Tree]) -> None:
        """Decompose, project, then average or count: the passes of the method, replayed from the logs of
        trees.

        Raises:
            InputError: there are no trees.
        """
        wanted = self._wanted()
        self.grammar_sets_ = tuple(
            self._grammar_set(name, cast(TreeLog, moments.parts[name]), wanted)
            for name in self.binarisations.split("+")
        )
        self.decoder_, self.decoder_settings_ = self.decoder, self._decoder_settings()

    def _grammar_set(self, binarisation: str, log: TreeLog, wanted: list[str]) -> GrammarSet:
        """All grammars of one binarisation."""
        table, chains = table_of(log)
        self.heads_ = log.binariser.heads
        self.n_trees_, self.word_counts_ = table.n_trees, word_counts(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        with fit_pass(f"{binarisation}: features"):
            features = node_features(table, self.features, signature_by_name(self.signatures_))
        with fit_pass(f"{binarisation}: SVD"):
            directions = find_directions(table, features, self._projection_options(wanted))
        skeleton = Skeleton.of(table)

        def learn(numbered_name: tuple[int, str]) -> LatentGrammar:
            index, name = numbered_name
            with fit_pass(f"{binarisation}: {name}"):
                if name == TENSORS:
                    return self._tensor_grammar(table, directions, wanted)
                if name == CLUSTERS:
                    return self._cluster_grammar(skeleton, directions, self.n_clusters, seed=index)
                if name == PRUNER:
                    return self._cluster_grammar(skeleton, directions, self.pruner_states)
                return plain_grammar(table, self.signatures_, self._lexicon())

        names = [*wanted, PLAIN, *([PRUNER] if self.pruner_states else [])]
        learnt = list(map_kernels(learn, enumerate(names)))
        grammars, coarse, *pruner = learnt[: len(wanted)], *learnt[len(wanted) :]
        return GrammarSet(
            binariser=log.binariser,
            chains=chains,
            coarse=coarse,
            pruner=pruner[0] if pruner else None,
            grammars=tuple(grammars),
        )

    def _tensor_grammar(self, table: TreeTable, directions: Directions, wanted: list[str]) -> LatentGrammar:
        """Means of outer products of the projected nodes."""
        projections = project_nodes(table, directions, self._projection_options(wanted))
        return spectral_grammar(table, projections, self.signatures_, self._smoothing(), self._lexicon())

    def _wanted(self) -> list[str]:
        wanted = self.grammars.split("+")
        for name in wanted:
            if name not in (TENSORS, CLUSTERS):
                raise ConfigError(
                    f"no grammar is called {name!r}", hint=f"use {TENSORS}, {CLUSTERS} or both with +"
                )
        return wanted

    def _projection_options(self, wanted: list[str]) -> ProjectionOptions:
        clusters = CLUSTERS in wanted or self.pruner_states > 0
        return ProjectionOptions(
            n_states=self.n_states,
            nodes_per_state=self.nodes_per_state,
            min_nodes=self.min_nodes,
            min_feature_count=self.min_feature_count,
            scaling=self.scaling,
            kappa=self.kappa,
            shrinkage=self.shrinkage,
            min_singular_value=self.min_singular_value,
            min_rank=self.cluster_dimensions if clusters else 0,
            random_state=self.random_state,
        )

    def _cluster_grammar(
        self, skeleton: Skeleton, directions: Directions, n_clusters: int, seed: int = 0
    ) -> LatentGrammar:
        """States from clusters, counted, and polished by EM on the observed trees."""
        state, n_states = cluster_nodes(
            skeleton.table.n_nodes,
            directions,
            skeleton.wanted_states(n_clusters, self.nodes_per_state),
            dimensions=self.cluster_dimensions,
            random_state=[self.random_state, seed],
        )
        counts, smoothing = count_states(skeleton, state, n_states), _HARD_SMOOTHING
        if self.em_iterations:
            counts, _ = polish(
                skeleton, probabilities(skeleton, counts, smoothing), self.em_iterations,
                least_posterior=_LEAST_POSTERIOR,
            )  # fmt: skip
            smoothing = SOFT_SMOOTHING
        return state_grammar(skeleton, counts, smoothing, self.signatures_, self._lexicon())

    def _smoothing(self) -> SmoothingOptions:
        return SmoothingOptions(self.smoothing, self.smoothing_strength)

    def _lexicon(self) -> LexiconOptions:
        return LexiconOptions(rare=self.rare, keep_rare=self.keep_rare_words, tag_weight=self.tag_weight)

    def _decoder_settings(self) -> dict[str, object]:
        settings: dict[str, dict[str, object]] = {
            "mbr": {"gamma": self.bracket_price},
            "labelled-recall": {"absolute": self.absolute_marginals},
        }
        return settings.get(self.decoder, {})


def binariser_of(binarisation: str, *, unaries: Unaries, heads: str) -> Binariser:
    """The binariser of a name such as ``head`` or ``left^1``; errors as of `parse_binarisation`."""
    direction, vertical = parse_binarisation(binarisation)
    return Binariser(direction=direction, vertical=vertical, unaries=unaries, heads=heads)


def parse_binarisation(name: str) -> tuple[Direction, int]:
    """Direction and vertical markovisation of a name such as ``head`` or ``left^1``.

    Raises:
        ConfigError: there is no binarisation of that name.
    """
    direction, _, vertical = name.partition("^")
    if direction not in get_args(Direction) or vertical not in ("", "1", "2"):
        raise ConfigError(f"no binarisation is called {name!r}", hint="use head, left, right, head^1, …")
    return cast(Direction, direction), int(vertical or 0)


def read_table(corpus: Corpus[Tree], binariser: Binariser) -> tuple[TreeTable, Chains]:
    """The trees as a table, and the chains to write for their compressed unary rules.

    Raises:
        InputError: there are no trees.
    """
    return table_of(accumulate(TreeLog(binariser.to_dict()), corpus))


def table_of(log: TreeLog) -> tuple[TreeTable, Chains]:
    """The same of trees that were observed."""
    table = log.table()
    if table.n_trees == 0:
        raise InputError("no trees to learn from", hint="give a treebank with at least one tree")
    return table, commonest_chains(log.chains)


def word_counts(table: TreeTable) -> dict[str, int]:
    """How often each word occurs in a treebank."""
    counts = np.bincount(table.word[table.word >= 0], minlength=len(table.words))
    return dict(zip(table.words, counts.tolist(), strict=True))


def plain_grammar(table: TreeTable, scheme: str, options: LexiconOptions) -> LatentGrammar:
    """The maximum-likelihood PCFG: what the same estimates give when every symbol has one state."""
    return spectral_grammar(table, Projections.single_state(table), scheme, SmoothingOptions(False), options)


def spectral_grammar(
    table: TreeTable,
    projections: Projections,
    scheme: str,
    smoothing: SmoothingOptions,
    options: LexiconOptions,
) -> LatentGrammar:
    """Parameters from the states of every node.

    Args:
        table: the treebank.
        projections: Y and Z of its nodes.
        scheme: name of the signature function.
        smoothing: of rules.
        options: smoothing of the lexicon.
    """
    rules = rule_tensors(table, projections, smoothing)
    tokens = token_moments(table, projections.outside)
    lexicon, tag_default = build_lexicon(
        tokens, projections.n_states, scheme, signature_by_name(scheme), options
    )
    is_tag = np.zeros(len(table.symbols), bool)
    is_tag[tokens.tag] = True
    return LatentGrammar(
        symbols=table.symbols,
        is_tag=is_tag,
        n_states=projections.n_states,
        binary_rules=rules.binary_rules,
        binary=rules.binary,
        unary_rules=rules.unary_rules,
        unary=rules.unary,
        root=root_vectors(table, projections),
        tag_default=tag_default,
        lexicon=lexicon,
    )
