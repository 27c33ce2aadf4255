"""Estimators of grammars, for the task of parsing, and the grammars they end in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimator import Estimator, MomentEstimator
from spectralnlp.estimators.shared.language import signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconMaker
from spectralnlp.estimators.shared.roles import role_report, roles_in_table
from spectralnlp.estimators.shared.treebank import Treebank, count_words
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, Tensors
from spectralnlp.progress import report_progress
from spectralnlp.runtime import Corpus, Moments
from spectralnlp.trees import Binariser, Tree


class GrammarEstimator(Estimator[Tree]):
    """An estimator of grammars, for the task of parsing.

    Attributes:
        grammar_sets_: one for each binarisation.
        n_trees_: training trees.
        word_counts_: how often each word occurred.
        heads_, signatures_: names of the head rules and of the signatures that were used.
        decoder_, decoder_settings_: what a parser decodes with unless told otherwise.
    """

    task = "parsing"

    grammar_sets_: tuple[GrammarSet, ...]
    n_trees_: int
    word_counts_: Mapping[str, int]
    heads_: str
    signatures_: str
    decoder_: str
    decoder_settings_: Mapping[str, Any]

    @property
    def grammars_(self) -> tuple[LatentGrammar, ...]:
        """The grammars of the first binarisation."""
        return self.grammar_sets_[0].grammars

    @property
    def coarse_(self) -> LatentGrammar:
        """The plain grammar of the first binarisation."""
        return self.grammar_sets_[0].coarse

    @property
    def pruner_(self) -> LatentGrammar | None:
        """The pruning grammar of the first binarisation."""
        return self.grammar_sets_[0].pruner

    @property
    def binariser_(self) -> Binariser:
        """The first binarisation."""
        return self.grammar_sets_[0].binariser

    @property
    def chains_(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """The unary chains of the first binarisation."""
        return self.grammar_sets_[0].chains


class GrammarLearner(ABC):
    """Learns grammars from a treebank, and from parts of it.

    Attributes:
        trees: the treebank, or the part.
        coarse: the plain grammar of each binarisation.
    """

    trees: Treebank
    coarse: Sequence[LatentGrammar]

    def describe_nodes(self) -> None:  # noqa: B027 (counting needs none)
        """Find out what `learn` adds up, if anything must be; `learn` does so where nobody has."""

    @abstractmethod
    def learn(self) -> tuple[GrammarSet, ...]:
        """Return the grammars of each binarisation."""

    @abstractmethod
    def select(self, trees: NDArray[np.bool_]) -> GrammarLearner:
        """Return a learner of some of the trees; what was found out about single nodes is kept.

        Args:
            trees: bool (n_trees,).
        """


class TreebankEstimator(GrammarEstimator, MomentEstimator[Tree]):
    """An estimator of grammars that can learn from logs of trees, as the components around them do."""

    signatures: str

    @abstractmethod
    def init_trees(self, corpus: Corpus[Tree]) -> Moments[Tree]:
        """Return an empty log of trees for each binarisation; argument as of `init_moments`."""

    @abstractmethod
    def treebank(self, moments: Any) -> Treebank:
        """Return the trees of the logs that `init_trees` began.

        Raises:
            InputError: there are none.
        """

    def describe(self, trees: Treebank) -> None:
        """Set all fitted attributes but the grammars: sizes, rules for the language, decoder.

        Labels of two roles are reported.
        """
        table, binariser = trees.first, trees.binarisers[0]
        for line in role_report(roles_in_table(table)):
            report_progress(line)
        self.heads_ = binariser.heads
        self.n_trees_, self.word_counts_ = table.n_sentences, count_words(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        self.decoder_, self.decoder_settings_ = self.usual_decoder()

    @abstractmethod
    def usual_decoder(self) -> tuple[str, dict[str, object]]:
        """Return the name and the settings of the decoder of a parser."""

    @abstractmethod
    def learner(self, trees: Treebank) -> GrammarLearner:
        """Return what learns grammars from trees, which were described.

        Args:
            trees: a treebank.
        """

    def init_moments(self, corpus: Corpus[Tree]) -> Moments[Tree]:
        """Return what `init_trees` does, unless there are smaller moments."""
        return self.init_trees(corpus)

    def solve(self, moments: Any) -> None:
        """Learn grammars from the trees of logs; the passes are replayed from them.

        Raises:
            InputError: there are no trees.
        """
        trees = self.treebank(moments)
        self.describe(trees)
        self.grammar_sets_ = self.learner(trees).learn()


@dataclass(frozen=True, kw_only=True)
class RuleTensors:
    """Rules in lexicographic order, and their tensors.

    Attributes:
        binary_rules: int32 (n_binary, 3); unary_rules: int32 (n_unary, 2).
        binary, unary: a tensor for each rule.
    """

    binary_rules: Ints
    binary: Tensors
    unary_rules: Ints
    unary: Tensors


def latent_grammar(
    symbols: Sequence[str],
    n_states: Ints,
    rules: RuleTensors,
    root: Floats,
    lexicons: LexiconMaker,
    z: Floats,
) -> LatentGrammar:
    """Put a grammar together, with a lexicon made of its tokens.

    Args:
        symbols: names, by index.
        n_states: int32 (n_symbols,).
        rules: with their tensors.
        root: float64 (sum of n_states,); π, laid end to end.
        lexicons: of the tokens.
        z: float64 (n_rows, m_max); see `LexiconMaker.make`.
    """
    lexicon, tag_default = lexicons.make(n_states, z)
    is_tag = np.zeros(len(symbols), bool)
    is_tag[lexicons.tokens.tag] = True
    return LatentGrammar(
        symbols=tuple(symbols),
        is_tag=is_tag,
        n_states=n_states,
        binary_rules=rules.binary_rules,
        binary=rules.binary,
        unary_rules=rules.unary_rules,
        unary=rules.unary,
        root=root,
        tag_default=tag_default,
        lexicon=lexicon,
    )
