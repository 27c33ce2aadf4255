"""Latent-variable PCFGs by the spectral algorithm of Cohen, Stratos, Collins, Foster and Ungar (2012, 2013).

A ``fit`` is the three moves: one pass turns trees into integers (``TreeLog``); an SVD of each symbol's
cross-covariance between inside and outside features gives every node a vector
(``shared/projections.py``). From there two roads lead to a grammar: means of outer products of these vectors
are its tensors (``solve.py``, as published); or clusters of the vectors are states that can be counted
(``states.py``). They err in different places, so the default takes both and decodes from their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, cast

from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.lpcfg.moments import nodes_of, parse_binarisation, tree_logs
from spectralnlp.estimators.lpcfg.solve import plain_grammar, spectral_grammar
from spectralnlp.estimators.lpcfg.states import TreeEventIndex, state_grammar
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.event_index import HARD_SMOOTHING, SOFT_SMOOTHING
from spectralnlp.estimators.shared.grammars import TreebankEstimator
from spectralnlp.estimators.shared.language import head_rules, usual_binarisation
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import (
    Directions,
    ProjectionOptions,
    find_directions,
    project_nodes,
)
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, Joint, map_kernels
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Tree
from spectralnlp.trees.features import FeatureSet, node_features
from spectralnlp.trees.treelog import TreeLog, TreeTable

TENSORS, CLUSTERS = "tensors", "clusters"
PRUNER = "pruning grammar"
# Where singular values alone bound states, those below this share of the first are dropped.
_PUBLISHED_SINGULAR_VALUE = 0.01
# Where signatures replace rare words, so much of a word's vector is its tag's mean.
_PUBLISHED_TAG_WEIGHT = 0.4
_LEAST_POSTERIOR = 1e-4  # of EM from clusters: nearly all of a node's mass is on a few of its states


@dataclass(kw_only=True, eq=False, repr=False)
class LPCFG(TreebankEstimator):
    """A latent-variable PCFG, spectral.

    The default is what wins on small treebanks; ``preset=tutorial`` is the algorithm as published. Each of
    its ingredients has a switch: ``features`` (simple), ``absolute_marginals``, ``scaling``, ``smoothing``.

    This learns grammars alone. ``spectralnlp.train("lpcfg", trees)`` gives a parser of these grammars and of
    what is learned around them: open cells, a span scorer, sentence ends.
    ``spectralnlp.train(LPCFG(), trees)`` gives one of the grammars alone.

    Attributes:
        grammar_sets_: one for each binarisation.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.

    Examples:
        >>> from spectralnlp import LPCFG, read_treebank
        >>> trees = read_treebank("corpora/treebank/train.mrg")
        >>> LPCFG(grammars="clusters", n_states=4).fit(trees).n_trees_
        171
    """

    unlearning = "replay"
    presets: ClassVar = {
        "tutorial": {
            "grammars": TENSORS,
            "n_states": 8,
            "features": "tutorial",
            "shrinkage": 0.0,
            "nodes_per_state": 0.0,
            "pruner_states": 0,
            "unaries": "collapse",
            "keep_rare_words": False,
            "decoder": "labelled-recall",
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
    n_states: Annotated[int, Ge(1), Doc("Most states a symbol may have (m).")] = 24
    features: Annotated[FeatureSet, Doc("Set of inside and outside features.")] = "rich"
    scaling: settings.Scaling = settings.SCALING
    shrinkage: settings.Shrinkage = settings.SHRINKAGE
    nodes_per_state: Annotated[
        float,
        Ge(0),
        Doc("Nodes that a symbol needs for each state; 0 as published: as many states as singular values."),
    ] = settings.NODES_PER_STATE
    smoothing: settings.Smoothing = settings.SMOOTHING
    em_iterations: settings.EMIterations = settings.EM_ITERATIONS
    pruner_states: Annotated[
        int,
        Ge(0),
        Doc("States of the grammar of clusters that thins forests; 0 for none."),
    ] = 8
    binarisations: Annotated[
        str | None,
        Doc(
            "``head`` (outward from the head), ``left`` or ``right``, each perhaps with ``^1`` for "
            "parent annotation; several, joined by ``+``, make a pool. By default ``head`` for English "
            "trees, ``left`` for others."
        ),
    ] = None
    unaries: settings.UnaryRules = settings.UNARIES
    heads: settings.Heads = settings.AUTO
    signatures: settings.Signatures = settings.AUTO
    keep_rare_words: settings.KeepRareWords = settings.KEEP_RARE_WORDS
    decoder: Annotated[
        str,
        Doc("The parser's default: ``mbr``, ``max-rule`` or ``labelled-recall``."),
    ] = "mbr"
    absolute_marginals: Annotated[
        bool,
        Doc('Of ``labelled-recall``: take absolute values ("Negative Marginals").'),
    ] = True
    random_state: settings.RandomState = settings.RANDOM_STATE

    def check_combination(self) -> None:
        """Check the names of grammars and binarisations.

        Raises:
            ConfigError: there is no grammar or binarisation of that name.
        """
        for name in self._grammar_names:
            if name not in (TENSORS, CLUSTERS):
                hint = f"use {TENSORS}, {CLUSTERS} or both with +"
                raise ConfigError(f"no grammar is called {name!r}", hint=hint)
        for name in [] if self.binarisations is None else self.binarisations.split("+"):
            parse_binarisation(name)

    @property
    def _grammar_names(self) -> list[str]:
        return self.grammars.split("+")

    def init_trees(self, corpus: Corpus[Tree]) -> Joint[Tree]:
        """Return an empty log of trees for each binarisation, with the head rules for the first trees."""
        heads = head_rules(self.heads, corpus)
        names = (self.binarisations or usual_binarisation(heads)).split("+")
        return tree_logs(names, unaries=self.unaries, heads=heads)

    def treebank(self, moments: Joint[Tree]) -> Treebank:
        """Return the trees of the logs, in each binarisation."""
        names = list(moments.parts) if self.binarisations is None else self.binarisations.split("+")
        return Treebank.of([cast(TreeLog, moments.parts[name]) for name in names])

    def coarse_grammars(self, trees: Treebank) -> list[LatentGrammar]:
        """Return the maximum-likelihood PCFG of each binarisation."""
        return list(map_kernels(lambda table: plain_grammar(table, self._lexicon_options()), trees.tables))

    def learn_grammars(self, trees: Treebank, coarse: Sequence[LatentGrammar]) -> tuple[GrammarSet, ...]:
        """Return the grammars of each binarisation."""
        named = zip(trees.tables, trees.binarisers, coarse, strict=True)
        learned = [self._grammars_of(table, each.direction, plain) for table, each, plain in named]
        return tuple(
            GrammarSet(binariser=binariser, chains=trees.chains, **fields)
            for binariser, fields in zip(trees.binarisers, learned, strict=True)
        )

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
                    return self._cluster_grammar(index, directions, self.n_states, seed=seed)
                return self._cluster_grammar(index, directions, self.pruner_states)

        wanted = self._grammar_names
        names = [*wanted, *([PRUNER] if self.pruner_states else [])]
        learnt = list(map_kernels(learn, enumerate(names)))
        grammars, pruner = tuple(learnt[: len(wanted)]), learnt[len(wanted) :]
        return {"coarse": coarse, "pruner": pruner[0] if pruner else None, "grammars": grammars}

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
            dimensions=settings.CLUSTER_DIMENSIONS,
            random_state=[self.random_state, seed],
        )
        counts, _ = index.refine(counts, self.em_iterations, first_smoothing=HARD_SMOOTHING)
        smoothing = SOFT_SMOOTHING if self.em_iterations else HARD_SMOOTHING
        return state_grammar(index, counts, smoothing, self._lexicon_options())

    def _projection_options(self) -> ProjectionOptions:
        has_clusters = CLUSTERS in self._grammar_names or self.pruner_states > 0
        # Without a bound of states by nodes, singular values alone bound them, as published.
        by_nodes = self.nodes_per_state > 0
        return ProjectionOptions.of(
            self,
            min_feature_count=settings.MIN_FEATURE_COUNT if self.features == "rich" else 1.0,
            min_nodes=settings.MIN_NODES if by_nodes else 0.0,
            min_singular_value=settings.MIN_SINGULAR_VALUE if by_nodes else _PUBLISHED_SINGULAR_VALUE,
            min_rank=settings.CLUSTER_DIMENSIONS if has_clusters else 0,
        )

    def _lexicon_options(self) -> LexiconOptions:
        weight = settings.TAG_WEIGHT if self.keep_rare_words else _PUBLISHED_TAG_WEIGHT
        return LexiconOptions.of(self, scheme=self.signatures_, tag_weight=weight)

    def usual_decoder(self) -> tuple[str, dict[str, object]]:
        """Return the decoder that was asked for, with the settings that are about it."""
        is_recall = self.decoder == "labelled-recall"
        return self.decoder, {"absolute": self.absolute_marginals} if is_recall else {}
