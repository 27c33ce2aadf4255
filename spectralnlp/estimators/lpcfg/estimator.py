"""Latent-variable PCFGs by the spectral algorithm of Cohen, Stratos, Collins, Foster and Ungar (2012, 2013).

A ``fit`` is the three moves: one pass turns trees into integers (``TreeLog``); an SVD of each symbol's
cross-covariance between inside and outside features gives every node a vector
(``shared/projections.py``). From there two roads lead to a grammar: means of outer products of these vectors
are its tensors (``solve.py``, as published); or clusters of the vectors are states that can be counted
(``states.py``). They err in different places, so the default takes both and decodes from their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimator import MomentEstimator, Tuning
from spectralnlp.estimators.lpcfg.cells import train_cells
from spectralnlp.estimators.lpcfg.moments import (
    binariser_of,
    nodes_of,
    parse_binarisation,
    tables_of,
    with_weights,
    word_counts,
)
from spectralnlp.estimators.lpcfg.sentence_ends import train_sentence_ends
from spectralnlp.estimators.lpcfg.solve import plain_grammar, spectral_grammar
from spectralnlp.estimators.lpcfg.span_scorer import LEAST_TREES, folds_of, learn_span_scorer, refine_scorer
from spectralnlp.estimators.lpcfg.span_training import TrainingOptions
from spectralnlp.estimators.lpcfg.states import TreeEventIndex, state_grammar
from spectralnlp.estimators.lpcfg.tuning import tuning_of
from spectralnlp.estimators.lpcfg.word_clusters import cluster_words, with_tag_factors
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.event_index import HARD_SMOOTHING, SOFT_SMOOTHING
from spectralnlp.estimators.shared.grammars import GrammarEstimator
from spectralnlp.estimators.shared.head_learning import head_report
from spectralnlp.estimators.shared.language import head_rules, signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import (
    Directions,
    ProjectionOptions,
    find_directions,
    project_nodes,
)
from spectralnlp.estimators.shared.roles import role_report, roles_in_table
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.inference.trees.parsing import ForestParser, Pruning
from spectralnlp.linalg import one_blas_thread
from spectralnlp.parameters import (
    CellModel,
    Floats,
    GrammarSet,
    Ints,
    LatentGrammar,
    SentenceEndModel,
    SpanScorer,
    WordClusters,
)
from spectralnlp.progress import fit_pass, report_progress
from spectralnlp.runtime import Corpus, Joint, map_kernels
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Binariser, Tree
from spectralnlp.trees.features import FeatureSet, node_features
from spectralnlp.trees.heads import LEARNED
from spectralnlp.trees.treelog import TreeLog, TreeTable

TENSORS, CLUSTERS = "tensors", "clusters"
PRUNER = "pruning grammar"
_LEAST_POSTERIOR = 1e-4  # of EM from clusters: nearly all of a node's mass is on a few of its states


@dataclass(kw_only=True, eq=False, repr=False)
class LPCFG(GrammarEstimator, MomentEstimator[Tree]):
    """A latent-variable PCFG, spectral.

    The default is what wins on small treebanks; ``preset=tutorial`` is the algorithm as published. Each of
    its ingredients has a switch: ``features`` (simple), ``absolute_marginals``, ``scaling``, ``smoothing``.

    Attributes:
        grammar_sets_: one for each binarisation.
        cell_model_, span_scorer_, sentence_end_model_: of open cells, of spans and of sentence ends, or
            None.
        word_clusters_: clusters of unlabelled text; without words if there are none.
        chosen_: settings that `tune` chose.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.

    Examples:
        >>> from spectralnlp import LPCFG, read_treebank
        >>> trees = read_treebank("corpora/treebank/train.mrg")
        >>> LPCFG(grammars="clusters", n_states=4).fit(trees).n_trees_
        171
    """

    unlearning = "replay"
    refine_scorer: ClassVar = staticmethod(refine_scorer)
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
            "span_scorer": False,
            "closed_cells": False,
            "sentence_ends": False,
        },
        "fast": {"grammars": CLUSTERS},
        "best": {"grammars": f"{TENSORS}+{CLUSTERS}", "binarisations": "head+left+right"},
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
    features: Annotated[FeatureSet, Doc("Set of inside and outside features.")] = "rich"
    min_feature_count: settings.MinFeatureCount = settings.MIN_FEATURE_COUNT
    scaling: settings.Scaling = settings.SCALING
    kappa: settings.Kappa = settings.KAPPA
    shrinkage: settings.Shrinkage = settings.SHRINKAGE
    min_singular_value: settings.MinSingularValue = settings.MIN_SINGULAR_VALUE
    nodes_per_state: settings.NodesPerState = settings.NODES_PER_STATE
    min_nodes: Annotated[float, Ge(0), Doc("Symbols with fewer nodes have one state.")] = settings.MIN_NODES
    smoothing: settings.Smoothing = settings.SMOOTHING
    smoothing_strength: settings.SmoothingStrength = 20.0
    cluster_dimensions: settings.ClusterDimensions = settings.CLUSTER_DIMENSIONS
    em_iterations: settings.EMIterations = settings.EM_ITERATIONS
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
    closed_cells: Annotated[
        bool,
        Doc(
            "Learn which spans may be constituents, and open only their cells of the chart: about twice the "
            "speed. Not from fewer than 500 trees."
        ),
    ] = True
    sentence_ends: Annotated[
        bool,
        Doc(
            "Learn where the sentences of raw text end, from the trees of each document in their order. Off "
            "for fewer than 500 trees, and for documents of fewer than 5 on average."
        ),
    ] = True
    unaries: settings.UnaryRules = settings.UNARIES
    heads: settings.LearnableHeads = settings.AUTO
    signatures: settings.Signatures = settings.AUTO
    rare: settings.Rare = settings.RARE
    keep_rare_words: settings.KeepRareWords = settings.KEEP_RARE_WORDS
    tag_weight: settings.TagWeight = settings.TAG_WEIGHT
    decoder: Annotated[
        str,
        Doc("The parser's default: ``mbr``, ``max-rule`` or ``labelled-recall``."),
    ] = "mbr"
    bracket_price: settings.BracketPrice = settings.BRACKET_PRICE
    span_scorer: Annotated[
        bool,
        Doc(
            "Learn a span scorer, which weighs the labels of spans by words and tags in and around them, "
            "from parses by grammars of the other folds. Off for fewer than 500 trees."
        ),
    ] = True
    folds: Annotated[int, Ge(2), Doc("Folds of documents that the span scorer is learned from.")] = 3
    eigenwords: Annotated[
        str | None,
        Doc(
            "Folder of eigenwords, whose clusters of words weigh the tags of rare words and are features of "
            "the span scorer."
        ),
    ] = None
    absolute_marginals: Annotated[
        bool,
        Doc('Of ``labelled-recall``: take absolute values ("Negative Marginals").'),
    ] = True
    tune: Annotated[
        Literal["none", "quick", "full"],
        Doc(
            "Choose settings by the F1 of held-out trees: ``quick`` by small grammars of 3,000 trees, in "
            "about the time of one training; ``full`` by whole grammars of all trees, in twenty times that."
        ),
    ] = "none"
    random_state: settings.RandomState = settings.RANDOM_STATE

    def tuning(self) -> Tuning | None:
        """Return what `tune` tries: binarisations, head rules, unaries, lexicon, and the decoder."""
        if self.tune == "none":
            return None
        return tuning_of(self.tune, pooled=len(self._binarisation_names) > 1)

    def check_combination(self) -> None:
        """Check the names of grammars and binarisations.

        Raises:
            ConfigError: there is no grammar or binarisation of that name.
        """
        for name in self._grammar_names:
            if name not in (TENSORS, CLUSTERS):
                hint = f"use {TENSORS}, {CLUSTERS} or both with +"
                raise ConfigError(f"no grammar is called {name!r}", hint=hint)
        for name in self._binarisation_names:
            parse_binarisation(name)

    @property
    def _grammar_names(self) -> list[str]:
        return self.grammars.split("+")

    @property
    def _binarisation_names(self) -> list[str]:
        return self.binarisations.split("+")

    def least_examples(self) -> int:
        """How many trees it takes to learn the span scorer, too."""
        return LEAST_TREES if self.span_scorer else 0

    def init_moments(self, corpus: Corpus[Tree]) -> Joint[Tree]:
        """Return an empty log of trees for each binarisation, with the head rules for the first trees."""
        heads = head_rules(self.heads, corpus, foreign=LEARNED)
        binarisers = (
            binariser_of(each, unaries=self.unaries, heads=heads) for each in self._binarisation_names
        )
        logs = (TreeLog(binariser.to_dict()) for binariser in binarisers)
        return Joint(dict(zip(self._binarisation_names, logs, strict=True)))

    def solve(self, moments: Joint[Tree]) -> None:
        """Decompose, project, then average or count; the passes are replayed from the logs of trees.

        Raises:
            InputError: there are no trees.
        """
        self._solve(moments)

    def solve_adapted(self, general: Any, own: Any, weight: float, shares: Floats | None = None) -> LPCFG:
        """Learn from a general treebank and from trees of a domain; as of `Estimator`."""
        self.validate()
        shares = np.ones(len(own.first_log().documents())) if shares is None else shares
        joined = deepcopy(general)
        joined.append(own)
        with one_blas_thread():
            self._solve(joined, weight=weight, shares=shares)
        return self

    def _solve(self, moments: Joint[Tree], *, weight: float = 1.0, shares: Floats | None = None) -> None:
        """Learn from logs of trees; see `with_weights`."""
        logs = [cast(TreeLog, moments.parts[name]) for name in self._binarisation_names]
        tables, binarisers, chains = tables_of(logs)
        if shares is not None:
            tables = [with_weights(table, weight, shares) for table in tables]
        self._note(binarisers[0], tables[0])
        self.word_clusters_ = self._word_clusters(tables[0])
        grammars, self.cell_model_ = self._learn(tables)
        self.grammar_sets_ = tuple(
            GrammarSet(binariser=binariser, chains=chains, **fields)
            for binariser, fields in zip(binarisers, grammars, strict=True)
        )
        documents = logs[0].documents()
        self.sentence_end_model_ = self._sentence_end_model(tables[0], documents)
        self.span_scorer_ = None
        if self.span_scorer and self.n_trees_ >= LEAST_TREES:
            self.span_scorer_ = self._learn_span_scorer(tables, folds_of(documents, self.folds))
        self.decoder_, self.decoder_settings_ = self.decoder, self._decoder_settings()

    def _note(self, binariser: Binariser, table: TreeTable) -> None:
        """Note sizes and rules for the treebank's language; report labels of two roles, and heads learned."""
        for line in (*role_report(roles_in_table(table)), *head_report(binariser)):
            report_progress(line)
        self.heads_ = binariser.heads
        self.n_trees_, self.word_counts_ = table.n_sentences, word_counts(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)

    def _word_clusters(self, table: TreeTable) -> WordClusters:
        """Clusters of unlabelled text, with the tags that the trees' rare words have in them."""
        if self.eigenwords is None:
            return WordClusters.none()
        with fit_pass("clusters of words"):
            return with_tag_factors(cluster_words(self.eigenwords, self.random_state), table, self.rare)

    def _learn(self, tables: Sequence[TreeTable]) -> tuple[list[dict[str, Any]], CellModel | None]:
        """Fields of each binarisation's `GrammarSet`, and the model of cells, learned beside the first."""
        plain = list(map_kernels(lambda table: plain_grammar(table, self._lexicon_options()), tables))
        named = list(zip(tables, self._binarisation_names, plain, strict=True))
        # While the cells are learned, in one thread, the grammars may take all of the engine's.
        jobs: list[Callable[[], Any]] = [
            lambda: self._grammars_of(*named[0]),
            lambda: self._cell_model(tables, plain[0]),
        ]
        first, cells = map_kernels(lambda job: job(), jobs)
        return [first, *(self._grammars_of(*each) for each in named[1:])], cells

    def _cell_model(self, tables: Sequence[TreeTable], coarse: LatentGrammar) -> CellModel | None:
        """The model of the cells that open, for all binarisations."""
        if not self.closed_cells:
            return None
        with fit_pass("closed cells"):
            return train_cells(tables, coarse, random_state=self.random_state)

    def _sentence_end_model(self, table: TreeTable, documents: Ints) -> SentenceEndModel | None:
        """The model of sentence ends."""
        if not self.sentence_ends:
            return None
        with fit_pass("sentence ends"):
            return train_sentence_ends(table, documents, self.coarse_, random_state=self.random_state)

    def _grammars_of(self, table: TreeTable, name: str, coarse: LatentGrammar) -> dict[str, Any]:
        """The coarse grammar, the pruner and the others, as the fields of `GrammarSet`."""
        with fit_pass(f"{name}: features"):
            features = node_features(table, self.features, signature_by_name(self.signatures_))
        with fit_pass(f"{name}: SVD"):
            directions = find_directions(nodes_of(table), features, self._projection_options())
        index = TreeEventIndex.of(table, least_posterior=_LEAST_POSTERIOR)

        def learn(numbered_name: tuple[int, str]) -> LatentGrammar:
            seed, kind = numbered_name
            with fit_pass(f"{name}: {kind}"):
                if kind == TENSORS:
                    return self._tensor_grammar(table, directions)
                if kind == CLUSTERS:
                    return self._cluster_grammar(index, directions, self.n_clusters, seed=seed)
                return self._cluster_grammar(index, directions, self.pruner_states)

        wanted = self._grammar_names
        names = [*wanted, *([PRUNER] if self.pruner_states else [])]
        learnt = list(map_kernels(learn, enumerate(names)))
        grammars, pruner = tuple(learnt[: len(wanted)]), learnt[len(wanted) :]
        return {"coarse": coarse, "pruner": pruner[0] if pruner else None, "grammars": grammars}

    def _learn_span_scorer(self, tables: Sequence[TreeTable], folds: Ints) -> SpanScorer:
        """The span scorer, from parses by such grammars as these, learned from the other folds."""

        def learn(trees: NDArray[np.bool_]) -> ForestParser:
            kept = [table.select(trees) for table in tables]
            grammars, cells = self._learn(kept)
            sets = [
                replace(each, **fields) for each, fields in zip(self.grammar_sets_, grammars, strict=True)
            ]
            clusters = with_tag_factors(self.word_clusters_, kept[0], self.rare)
            return ForestParser.of(sets, pruning=Pruning.of_pool(len(sets)), cells=cells, clusters=clusters)

        options = TrainingOptions(random_state=self.random_state)
        return learn_span_scorer(tables[0], folds, self.grammar_sets_, learn, self.word_clusters_, options)

    def _tensor_grammar(self, table: TreeTable, directions: Directions) -> LatentGrammar:
        """Means of outer products of the projected nodes."""
        projections = project_nodes(nodes_of(table), directions, self._projection_options())
        return spectral_grammar(table, projections, SmoothingOptions.of(self), self._lexicon_options())

    def _cluster_grammar(
        self, index: TreeEventIndex, directions: Directions, n_clusters: int, seed: int = 0
    ) -> LatentGrammar:
        """States from clusters, counted, and refined by EM on the observed trees."""
        counts = index.count_clusters(
            directions,
            index.wanted_states(n_clusters, self.nodes_per_state),
            dimensions=self.cluster_dimensions,
            random_state=[self.random_state, seed],
        )
        counts, _ = index.refine(counts, self.em_iterations, first_smoothing=HARD_SMOOTHING)
        smoothing = SOFT_SMOOTHING if self.em_iterations else HARD_SMOOTHING
        return state_grammar(index, counts, smoothing, self._lexicon_options())

    def _projection_options(self) -> ProjectionOptions:
        has_clusters = CLUSTERS in self._grammar_names or self.pruner_states > 0
        return ProjectionOptions.of(self, min_rank=self.cluster_dimensions if has_clusters else 0)

    def _lexicon_options(self) -> LexiconOptions:
        return LexiconOptions.of(self, scheme=self.signatures_)

    def _decoder_settings(self) -> dict[str, object]:
        if self.decoder == "mbr":
            return {"gamma": self.bracket_price}
        return {"absolute": self.absolute_marginals} if self.decoder == "labelled-recall" else {}
