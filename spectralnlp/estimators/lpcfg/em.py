"""Latent-variable PCFGs learned by EM on observed trees (Matsuzaki et al. 2005).

EM starts from random counts, as a baseline for spectral learning, or from clusters of the spectral vectors of
tree nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Ge, Le
from typing_extensions import Doc

from spectralnlp.estimator import IterativeEstimator
from spectralnlp.estimators.lpcfg.moments import CountedTable, binariser_of, nodes_of
from spectralnlp.estimators.lpcfg.solve import plain_grammar
from spectralnlp.estimators.lpcfg.states import StateCounts, TreeEventIndex, state_grammar
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.grammars import GrammarEstimator
from spectralnlp.estimators.shared.language import default_binarisation, head_rules, signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.projections import ProjectionOptions, find_directions
from spectralnlp.estimators.shared.treebank import Treebank, count_words
from spectralnlp.parameters import GrammarSet
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Corpus, accumulate
from spectralnlp.text.signatures import signature_by_name
from spectralnlp.trees import Tree
from spectralnlp.trees.features import node_features
from spectralnlp.trees.treelog import TreeLog

Start = Literal["random", "clusters"]

# Relative noise of a random start, in [0, 1]; without noise all states of a symbol would stay equal.
NOISE = 0.5

# Smoothing weight of the mean over a symbol's states in each iteration; with 0 the likelihood never falls.
SMOOTHING = 0.01


@dataclass(kw_only=True, eq=False, repr=False)
class LatentEM(GrammarEstimator, IterativeEstimator[Tree]):
    """Latent-variable PCFG learned by EM.

    Attributes:
        grammar_sets_: a single :class:`~spectralnlp.parameters.GrammarSet`.
        log_likelihoods_: natural log likelihood of the trees before each iteration.
        n_trees_, word_counts_, decoder_, decoder_settings_: see :class:`GrammarEstimator`.

    Examples:
        >>> from spectralnlp import read_treebank
        >>> from spectralnlp.estimators.lpcfg import LatentEM
        >>> LatentEM(n_states=2, iterations=2).fit(read_treebank("corpora/treebank/train.mrg")).n_trees_
        171
    """

    n_states: Annotated[int, Ge(1), Le(1_000_000), Doc("Maximum number of states per symbol.")] = field(
        default=8, kw_only=False
    )
    iterations: Annotated[int, Ge(1), Doc("Number of EM iterations.")] = 40
    start: Annotated[
        Start,
        Doc("Initialisation: ``random``, or ``clusters`` of the nodes' spectral vectors."),
    ] = "random"
    nodes_per_state: settings.NodesPerState = settings.NODES_PER_STATE
    binarisation: Annotated[
        str | None,
        Doc(
            "``head`` (outward from the head), ``left`` or ``right``, optionally followed by ``^1`` for "
            "parent annotation; by default ``head`` for English trees, ``left`` for others."
        ),
    ] = None
    heads: settings.Heads = settings.AUTO
    signatures: settings.Signatures = settings.AUTO
    random_state: settings.RandomState = settings.RANDOM_STATE

    def learn(self, corpus: Corpus[Tree]) -> None:
        """Read the trees, initialise the grammar, and run EM.

        Args:
            corpus: trees without traces and function tags, as ``spectralnlp.trees.clean`` returns them.

        Raises:
            ConfigError: the name of the binarisation is unknown.
            InputError: there are no trees.
        """
        self.heads_ = head_rules(self.heads, corpus)
        binarisation = self.binarisation or default_binarisation(self.heads_)
        binariser = binariser_of(binarisation, unaries=settings.UNARIES, heads=self.heads_)
        with fit_pass("trees"):
            trees = Treebank.of([accumulate(TreeLog(binariser.to_dict()), corpus)])
        table = trees.first
        self.n_trees_, self.word_counts_ = table.n_trees, count_words(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        counted = CountedTable.of(table, LexiconOptions(scheme=self.signatures_))
        index = TreeEventIndex.of(counted)
        with fit_pass("start"):
            start = self._start_counts(index)
        with fit_pass("EM"):
            counts, self.log_likelihoods_ = index.refine(
                start, self.iterations, first_smoothing=SMOOTHING, smoothing=SMOOTHING
            )
            grammar = state_grammar(index, counts, SMOOTHING)
        self.grammar_sets_ = (
            GrammarSet(
                binariser=trees.binarisers[0],
                chains=trees.chains,
                coarse=plain_grammar(counted),
                pruner=None,
                grammars=(grammar,),
            ),
        )
        self.decoder_, self.decoder_settings_ = "mbr", {}

    def _start_counts(self, index: TreeEventIndex) -> StateCounts:
        """Return initial counts of rules, words and roots with hidden states, to start EM."""
        wanted = index.nodes.wanted_states(self.n_states, self.nodes_per_state)
        if self.start == "random":
            return index.random_counts(wanted, noise=NOISE, random_state=self.random_state)
        options = ProjectionOptions.of(self, min_rank=settings.CLUSTER_DIMENSIONS)
        features = node_features(index.table, "rich", signature_by_name(self.signatures_))
        return index.count_clusters(
            find_directions(nodes_of(index.table), features, options),
            wanted,
            dimensions=settings.CLUSTER_DIMENSIONS,
            random_state=[self.random_state],
        )
