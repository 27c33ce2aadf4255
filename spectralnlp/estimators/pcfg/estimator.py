"""The ``pcfg`` estimator: maximum-likelihood PCFGs, with parent and sibling annotation.

These are the baselines in the spectral tutorial of Cohen, Collins and others (NAACL 2013): no annotation
(68.62 F1 on the Penn Treebank), and parents and siblings annotated on every symbol (82.59). Annotation does
not create new symbols here; it is the *state* of a symbol. So the coarse parsing pass uses the small plain
grammar, and the annotated grammar only scores the pruned forest (as in Charniak and Johnson 2005).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, cast

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray
from typing_extensions import Doc

from spectralnlp.errors import InputError
from spectralnlp.estimators.pcfg.moments import RuleCounts, RuleEvents
from spectralnlp.estimators.pcfg.solve import is_annotated, solve_pcfg, without_annotation
from spectralnlp.estimators.shared import settings
from spectralnlp.estimators.shared.ambiguous_labels import report_ambiguous_labels
from spectralnlp.estimators.shared.grammars import GrammarLearner, TreebankEstimator
from spectralnlp.estimators.shared.language import head_rules, signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconOptions
from spectralnlp.estimators.shared.treebank import Chains, Treebank
from spectralnlp.estimators.shared.unary_chains import commonest_chains
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.progress import fit_pass, report_progress
from spectralnlp.runtime import Corpus, Joint
from spectralnlp.trees import Binariser, Direction, Tree
from spectralnlp.trees.treelog import TreeLog


@dataclass(kw_only=True, eq=False, repr=False)
class PCFG(TreebankEstimator):
    """PCFG estimated by relative frequencies.

    This estimator only learns grammars; ``spectralnlp.train("pcfg", trees)`` trains a parser.

    Attributes:
        grammar_sets_: a single :class:`~spectralnlp.parameters.GrammarSet`, with the annotated grammar, or
            the plain one if nothing is annotated.

    Examples:
        >>> from spectralnlp import PCFG, Tree
        >>> tree = Tree("S", [Tree("NP", [Tree("NNS", word="Gulls")]), Tree("VP", [Tree("VBP", word="fly")])])
        >>> PCFG(vertical=0).fit([tree]).n_trees_
        1
    """

    unlearning = "exact"
    presets: ClassVar = {
        "plain": {"vertical": 0, "horizontal": 0, "annotate_tags": False},
        "annotated": {"vertical": 1, "horizontal": 1, "annotate_tags": True},
    }

    direction: Annotated[
        Direction,
        Doc("Direction of binarisation: ``head`` (outward from the head), ``left`` or ``right``."),
    ] = "head"
    vertical: Annotated[
        int, Ge(0), Doc("Number of ancestors annotated on each phrase; 1 is parent annotation.")
    ] = 1
    horizontal: Annotated[
        int, Ge(-1), Doc("Number of siblings annotated on symbols made by binarisation; -1 for all.")
    ] = 1
    annotate_tags: Annotated[bool, Doc("Annotate tags with ancestors too.")] = True
    unaries: settings.UnaryRules = settings.UNARIES
    heads: settings.Heads = settings.AUTO
    signatures: settings.Signatures = settings.AUTO

    def init_moments(self, corpus: Corpus[Tree]) -> RuleCounts:
        """Return empty counts of rules; the first trees of the corpus decide which head rules are used."""
        return RuleCounts(self._binariser(corpus).to_dict())

    def init_trees(self, corpus: Corpus[Tree]) -> Joint[Tree]:
        """Return an empty log of trees; the first trees of the corpus decide which head rules are used."""
        return Joint({"trees": TreeLog(self._binariser(corpus).to_dict())})

    def _binariser(self, corpus: Corpus[Tree]) -> Binariser:
        return Binariser(
            direction=self.direction,
            vertical=self.vertical,
            horizontal=self.horizontal,
            unaries=self.unaries,
            annotate_tags=self.annotate_tags,
            heads=head_rules(self.heads, corpus),
        )

    def solve(self, moments: RuleCounts) -> None:
        """Estimate the grammars by relative frequency: counts of rules divided by counts of left-hand sides.

        Raises:
            InputError: there are no trees.
        """
        with fit_pass("grammar"):
            self._solve(moments)

    def _solve(self, counts: RuleCounts) -> None:
        events = counts.events_by_kind()
        if not events.root:
            raise InputError("no trees to learn from", hint="give a treebank with at least one tree")
        self.n_trees_ = sum(events.root.values())
        for line in report_ambiguous_labels(events.ambiguous_labels()):
            report_progress(line)
        self.word_counts_ = events.word_counts()
        self.heads_ = counts.binariser.heads
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        self.decoder_, self.decoder_settings_ = self.default_decoder()
        coarse, grammar = self.coarse(events), self.grammar(events)
        self.grammar_sets_ = (self.set_of(counts.binariser, commonest_chains(events.chain), coarse, grammar),)

    def treebank(self, moments: Joint[Tree]) -> Treebank:
        """Return the logged trees as a treebank, binarised and annotated with parents and siblings."""
        trees = Treebank.of([cast(TreeLog, moments.parts["trees"])])
        return trees if self.unaries == "compress" else replace(trees, chains={})

    def default_decoder(self) -> tuple[str, dict[str, object]]:
        """Return the name and the settings of the decoder for parsers: ``mbr``, without settings."""
        return "mbr", {}

    def learner(self, trees: Treebank) -> PCFGLearner:
        """Return an object that learns both grammars, with and without annotation, from a treebank."""
        return PCFGLearner(self, trees)

    def set_of(
        self, binariser: Binariser, chains: Chains, coarse: LatentGrammar, grammar: LatentGrammar | None
    ) -> GrammarSet:
        """Combine the grammars without and with annotation in a set of grammars for a parser.

        Args:
            binariser: converts trees to binary trees.
            chains: full unary chain for each pair (top, bottom).
            coarse: grammar without annotation.
            grammar: grammar with parent or sibling annotation, or None to use ``coarse`` in its place.
        """
        return GrammarSet(
            binariser=binariser, chains=chains, coarse=coarse, pruner=None, grammars=(grammar or coarse,)
        )

    def coarse(self, events: RuleEvents) -> LatentGrammar:
        """Estimate the grammar without parent and sibling annotation, from counts of rules and words."""
        return solve_pcfg(without_annotation(events), self._lexicon_options())

    def grammar(self, events: RuleEvents) -> LatentGrammar | None:
        """Estimate the grammar with parent and sibling annotation; return None if no symbol is annotated."""
        return solve_pcfg(events, self._lexicon_options()) if is_annotated(events) else None

    def _lexicon_options(self) -> LexiconOptions:
        return LexiconOptions.of(self, scheme=self.signatures_)


class PCFGLearner(GrammarLearner):
    """Learner of the grammars with and without parent and sibling annotation, by counting.

    Args:
        estimator: estimator whose `describe` was called with the treebank.
        trees: treebank to learn from.
    """

    def __init__(self, estimator: PCFG, trees: Treebank) -> None:
        self.estimator, self.trees = estimator, trees
        self._events = RuleEvents.of_table(trees.first)
        self.coarse = [estimator.coarse(self._events)]

    def learn(self) -> tuple[GrammarSet, ...]:
        """Estimate the coarse grammar and that of annotated symbols, and return both in one grammar set."""
        with fit_pass("grammar"):
            grammar = self.estimator.grammar(self._events)
        trees = self.trees
        return (self.estimator.set_of(trees.binarisers[0], trees.chains, self.coarse[0], grammar),)

    def select(self, trees: NDArray[np.bool_]) -> PCFGLearner:
        """Return a learner for some of the trees.

        Args:
            trees: bool (n_trees,); which trees to select.
        """
        return PCFGLearner(self.estimator, self.trees.select(trees))
