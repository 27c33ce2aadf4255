"""Latent-variable PCFGs by the spectral algorithm of Cohen, Stratos, Collins, Foster and Ungar (2012, 2013).

A ``fit`` is the three moves: one pass turns trees into integers (``TreeLog``); an SVD of each symbol's
cross-covariance between inside and outside features gives every node a vector
(``shared/projections.py``). From there two roads lead to a grammar: means of outer products of these vectors
are its tensors (``solve.py``, as published); or clusters of the vectors are states that can be counted
(``states.py``). They err in different places, so the default takes both and decodes from their mean.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, ClassVar, cast

from annotated_types import Ge
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.lpcfg.learner import CLUSTERS, PRUNER, TENSORS, LPCFGLearner, Recipe
from spectralnlp.estimators.lpcfg.moments import parse_binarisation, tree_logs
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.grammars import TreebankEstimator
from spectralnlp.estimators.shared.language import head_rules, usual_binarisation
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.runtime import Corpus, Joint
from spectralnlp.trees import Tree
from spectralnlp.trees.features import FeatureSet
from spectralnlp.trees.treelog import TreeLog

# Where singular values alone bound states, those below this share of the first are dropped.
_PUBLISHED_SINGULAR_VALUE = 0.01
# Where signatures replace rare words, so much of a word's vector is its tag's mean.
_PUBLISHED_TAG_WEIGHT = 0.4


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
    n_states: Annotated[int, Ge(1), Doc("Most states a symbol may have (m).")] = field(
        default=24, kw_only=False
    )
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

    def learner(self, trees: Treebank) -> LPCFGLearner:
        """Return what learns the grammars of each binarisation from trees."""
        recipe = Recipe(
            kinds=[*self._grammar_names, *([PRUNER] if self.pruner_states else [])],
            n_states=self.n_states,
            pruner_states=self.pruner_states,
            nodes_per_state=self.nodes_per_state,
            em_iterations=self.em_iterations,
            features=self.features,
            projection=self._projection_options(),
            smoothing=SmoothingOptions.of(self),
            lexicon=self._lexicon_options(),
            random_state=self.random_state,
        )
        return LPCFGLearner(recipe, trees)

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
