"""The grammar of clusters alone: non-negative parameters, and the fastest to learn."""

from __future__ import annotations

from typing import ClassVar

from spectralnlp.estimators.lpcfg.estimator import CLUSTERS, LPCFG
from spectralnlp.trees import Unaries


class ClusterLPCFG(LPCFG):
    """A latent-variable PCFG whose states are clusters of nodes (Narayan and Cohen 2015), counted.

    It is :class:`LPCFG` without its grammar of tensors, ``preset=fast`` there.

    Args:
        n_clusters, features, min_feature_count, nodes_per_state, cluster_dimensions, em_iterations,
            pruner_states, binarisations, unaries, heads, signatures, rare, keep_rare_words, tag_weight,
            decoder, bracket_price, random_state: see :class:`LPCFG`.

    Attributes:
        grammar_sets_: one for each binarisation.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.
    """

    presets: ClassVar = {}

    # The rest of LPCFG's settings, at its defaults.
    grammars = CLUSTERS
    n_states = 24
    scaling, kappa, shrinkage = True, 5.0, 0.15
    min_singular_value, min_nodes = 1e-6, 20.0
    smoothing, smoothing_strength = True, 20.0
    absolute_marginals = True

    def __init__(
        self,
        n_clusters: int = 16,
        features: str = "rich",
        min_feature_count: float = 2.0,
        nodes_per_state: float = 50.0,
        cluster_dimensions: int = 8,
        em_iterations: int = 1,
        pruner_states: int = 8,
        binarisations: str = "head",
        unaries: Unaries = "compress",
        heads: str = "auto",
        signatures: str = "auto",
        rare: int = 5,
        keep_rare_words: bool = True,
        tag_weight: float = 0.1,
        decoder: str = "mbr",
        bracket_price: float = 0.4,
        random_state: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.features = features
        self.min_feature_count = min_feature_count
        self.nodes_per_state = nodes_per_state
        self.cluster_dimensions = cluster_dimensions
        self.em_iterations = em_iterations
        self.pruner_states = pruner_states
        self.binarisations = binarisations
        self.unaries = unaries
        self.heads = heads
        self.signatures = signatures
        self.rare = rare
        self.keep_rare_words = keep_rare_words
        self.tag_weight = tag_weight
        self.decoder = decoder
        self.bracket_price = bracket_price
        self.random_state = random_state
