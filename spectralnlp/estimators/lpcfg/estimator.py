"""Latent-variable PCFGs, learned by the spectral algorithm of Cohen et al. (2012, 2013).

One pass over the treebank encodes its trees as integers (``TreeLog``). An SVD of each symbol's
cross-covariance between inside and outside features then gives every node a vector
(``shared/projections.py``). There are two ways from vectors to a grammar: its tensors are means of outer
products of the vectors (``solve.py``, as published), or clusters of the vectors become states, which are
counted (``states.py``). The two kinds of grammars make different errors, so the default learns both and
decodes from their average.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, cast

from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.errors import ConfigError
from spectralnlp.estimators.lpcfg.learner import CLUSTERS, PRUNER, TENSORS, LPCFGLearner, Recipe
from spectralnlp.estimators.lpcfg.moments import parse_binarisation, tree_logs
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.grammars import TreebankEstimator
from spectralnlp.estimators.shared.language import default_binarisation, head_rules
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions
from spectralnlp.estimators.shared.smoothing import SmoothingOptions
from spectralnlp.estimators.shared.treebank import Treebank
from spectralnlp.runtime import Corpus, Joint
from spectralnlp.trees import Tree
from spectralnlp.trees.features import FeatureSet
from spectralnlp.trees.treelog import TreeLog

# If singular values alone bound the number of states, those below this share of the largest are dropped.
_PUBLISHED_SINGULAR_VALUE = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class LPCFG(TreebankEstimator):
    """Latent-variable PCFG learned by the spectral algorithm.

    The defaults are those that work best on small treebanks; ``preset=tutorial`` is the algorithm as
    published. Single steps can be changed by the settings ``features``, ``scaling``, ``smoothing`` and
    ``absolute_marginals``.

    This estimator only learns grammars. ``spectralnlp.train("lpcfg", trees)`` trains a parser with these
    grammars and with further components: a model that predicts which chart cells to skip, a scorer of
    labelled spans, and a model of sentence ends. ``spectralnlp.train(LPCFG(), trees)`` trains a parser with
    the grammars only.

    Attributes:
        grammar_sets_: one :class:`~spectralnlp.parameters.GrammarSet` for each binarisation.
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
            "Kinds of grammars, ``tensors`` or ``clusters``; join several with ``+``. A kind may be "
            "repeated: each grammar of clusters has its own seed."
        ),
    ] = f"{TENSORS}+{CLUSTERS}+{CLUSTERS}"
    n_states: Annotated[int, Ge(1), Le(1_000_000), Doc("Maximum number of states per symbol (m).")] = field(
        default=24, kw_only=False
    )
    features: Annotated[FeatureSet, Doc("Set of inside and outside features.")] = "rich"
    scaling: settings.Scaling = settings.SCALING
    shrinkage: settings.Shrinkage = settings.SHRINKAGE
    nodes_per_state: Annotated[
        float,
        Ge(0),
        Doc(
            "Minimum number of nodes of a symbol per state; 0 as published, where the number of singular "
            "values determines that of states."
        ),
    ] = settings.NODES_PER_STATE
    smoothing: settings.Smoothing = settings.SMOOTHING
    em_iterations: settings.EMIterations = settings.EM_ITERATIONS
    pruner_states: Annotated[
        int,
        Ge(0),
        Doc("Maximum number of states per symbol of the grammar that prunes forests; 0 for no pruning."),
    ] = 8
    binarisations: Annotated[
        str | None,
        Doc(
            "``head`` (outward from the head), ``left`` or ``right``, optionally followed by ``^1`` for "
            "parent annotation; join several with ``+`` to combine their grammars. By default ``head`` for "
            "English trees, ``left`` for others."
        ),
    ] = None
    unaries: settings.UnaryRules = settings.UNARIES
    heads: settings.Heads = settings.AUTO
    signatures: settings.Signatures = settings.AUTO
    keep_rare_words: settings.KeepRareWords = settings.KEEP_RARE_WORDS
    decoder: Annotated[
        str,
        Doc("Default decoder of the parser: ``mbr``, ``max-rule`` or ``labelled-recall``."),
    ] = "mbr"
    absolute_marginals: Annotated[
        bool,
        Doc('Take absolute values of marginals in ``labelled-recall`` decoding ("Negative Marginals").'),
    ] = True
    random_state: settings.RandomState = settings.RANDOM_STATE

    def check_combination(self) -> None:
        """Check the names of grammars and binarisations in the settings.

        Raises:
            ConfigError: the name of a grammar or binarisation is unknown.
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
        """Return an empty log of trees for each binarisation.

        Args:
            corpus: the training trees, without traces and function tags; unless the head rules are set, the
                language of the first trees determines them.
        """
        heads = head_rules(self.heads, corpus)
        names = (self.binarisations or default_binarisation(heads)).split("+")
        return tree_logs(names, unaries=self.unaries, heads=heads)

    def treebank(self, moments: Joint[Tree]) -> Treebank:
        """Return the trees that moments store as a treebank, with a table of nodes for each binarisation."""
        names = list(moments.parts) if self.binarisations is None else self.binarisations.split("+")
        return Treebank.of([cast(TreeLog, moments.parts[name]) for name in names])

    def learner(self, trees: Treebank) -> LPCFGLearner:
        """Return an object that learns the grammars of each binarisation from a treebank or a part of it."""
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
        # If the number of nodes does not bound that of states, singular values alone do, as published.
        by_nodes = self.nodes_per_state > 0
        return ProjectionOptions.of(
            self,
            min_feature_count=settings.MIN_FEATURE_COUNT if self.features == "rich" else 1.0,
            min_nodes=settings.MIN_NODES if by_nodes else 0.0,
            min_singular_value=settings.MIN_SINGULAR_VALUE if by_nodes else _PUBLISHED_SINGULAR_VALUE,
            min_rank=settings.CLUSTER_DIMENSIONS if has_clusters else 0,
        )

    def _lexicon_options(self) -> LexiconOptions:
        options = LexiconOptions.of(self, scheme=self.signatures_)
        if not self.nodes_per_state:  # as published: a constant weight would make the estimate inconsistent
            options = replace(options, tag_weight=0.0)
        return options if self.smoothing else options.with_plain_means()

    def default_decoder(self) -> tuple[str, dict[str, object]]:
        """Return the name of the parser's decoder (the setting ``decoder``) and the decoder's settings."""
        is_recall = self.decoder == "labelled-recall"
        return self.decoder, {"absolute": self.absolute_marginals} if is_recall else {}
