"""Latent-variable PCFGs by the spectral algorithm of Cohen, Stratos, Collins, Foster and Ungar (2012, 2013).

A ``fit`` is the three moves: one pass that turns trees into integers (``TreeLog``); an SVD of each
symbol's cross-covariance between inside and outside features (``projections.py``); means of outer
products of the projected features, which are the grammar's parameters (``tensors.py``).
"""

from __future__ import annotations

from typing import Self

import numpy as np

from ...corpus import Corpus
from ...engine import accumulate
from ...errors import InputError
from ...estimator import Estimator
from ...parameters import LatentGrammar
from ...text.signatures import signature_by_name
from ...trees import Binariser, Tree
from ...trees.features import node_features
from ...trees.treelog import TreeLog, TreeTable
from ..lexicon import LexiconOptions, build_lexicon
from .projections import ProjectionOptions, Projections, project
from .tensors import SmoothingOptions, root_vectors, rule_tensors, token_moments


class LPCFG(Estimator):
    """A spectral L-PCFG.

    Args:
        n_states: most states a symbol may have (m).
        features: set of features, ``rich``, ``tutorial`` or ``simple``.
        shrinkage: ρ; 0 as published.
    """

    kind = "spectral"
    change_of_mind = "replay"
    task = "parsing"

    def __init__(
        self,
        n_states: int = 24,
        features: str = "rich",
        scaling: bool = True,
        kappa: float = 5.0,
        shrinkage: float = 0.15,
        smoothing: bool = True,
        smoothing_strength: float = 20.0,
        nodes_per_state: float = 50.0,
        min_nodes: float = 20.0,
        min_feature_count: float = 2.0,
        direction: str = "head",
        unaries: str = "compress",
        heads: str = "english",
        signatures: str = "english",
        random_state: int = 0,
    ) -> None:
        self.n_states = n_states
        self.features = features
        self.scaling = scaling
        self.kappa = kappa
        self.shrinkage = shrinkage
        self.smoothing = smoothing
        self.smoothing_strength = smoothing_strength
        self.nodes_per_state = nodes_per_state
        self.min_nodes = min_nodes
        self.min_feature_count = min_feature_count
        self.direction = direction
        self.unaries = unaries
        self.heads = heads
        self.signatures = signatures
        self.random_state = random_state

    def fit(self, corpus: Corpus[Tree], y: None = None) -> Self:
        binariser = Binariser(direction=self.direction, unaries=self.unaries, heads=self.heads)
        log = accumulate(TreeLog(binariser.to_dict()), corpus)
        table = log.table()
        sign = signature_by_name(self.signatures)
        features = node_features(table, self.features, sign)
        projections = project(table, features, ProjectionOptions(
            n_states=self.n_states, nodes_per_state=self.nodes_per_state, min_nodes=self.min_nodes,
            min_feature_count=self.min_feature_count, scaling=self.scaling, kappa=self.kappa,
            shrinkage=self.shrinkage, random_state=self.random_state))
        self.grammar_ = spectral_grammar(table, projections, self.signatures, SmoothingOptions(self.smoothing, self.smoothing_strength), LexiconOptions())
        one=Projections(np.ones(len(table.symbols),np.int32),np.ones((table.n_nodes,1)),np.ones((table.n_nodes,1)),np.ones((len(table.symbols),1)))
        self.coarse_ = spectral_grammar(table, one, self.signatures, SmoothingOptions(False), LexiconOptions())
        self.grammars_ = (self.grammar_,)
        self.chains_ = {}
        return self


def spectral_grammar(
    table: TreeTable, projections: Projections, scheme: str, smoothing: SmoothingOptions, options: LexiconOptions
) -> LatentGrammar:
    """Parameters from the states of every node."""
    rules = rule_tensors(table, projections, smoothing)
    tokens = token_moments(table, projections.outside)
    lexicon, tag_default = build_lexicon(
        tokens, projections.n_states, scheme, signature_by_name(scheme), options
    )
    is_tag = np.zeros(len(table.symbols), bool)
    is_tag[tokens.tag] = True
    return LatentGrammar(
        table.symbols, is_tag, projections.n_states, rules.binary_rules, rules.binary, rules.unary_rules,
        rules.unary, root_vectors(table, projections), tag_default, lexicon,
    )  # fmt: skip
