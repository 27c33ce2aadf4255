"""Base classes of estimators that learn grammars, and the assembly of grammars from their parts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimator import Estimator, MomentEstimator
from spectralnlp.estimators.shared.ambiguous_labels import ambiguous_labels_in_table, report_ambiguous_labels
from spectralnlp.estimators.shared.language import signature_scheme
from spectralnlp.estimators.shared.lexicon import LexiconMaker
from spectralnlp.estimators.shared.treebank import Treebank, count_words
from spectralnlp.parameters import Floats, GrammarSet, Ints, LatentGrammar, Tensors
from spectralnlp.progress import report_progress
from spectralnlp.runtime import Corpus, Moments
from spectralnlp.trees import Binariser, Tree


class GrammarEstimator(Estimator[Tree]):
    """Base class of estimators that learn grammars for parsing.

    Attributes:
        grammar_sets_: one set of grammars for each binarisation.
        n_trees_: number of training trees.
        word_counts_: frequency of each word in the training trees.
        heads_, signatures_: names of the head rules and the signatures used.
        decoder_, decoder_settings_: name and settings of the decoder that parsers use by default.
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
        """The grammars learned from trees in the first binarisation."""
        return self.grammar_sets_[0].grammars

    @property
    def coarse_(self) -> LatentGrammar:
        """The plain grammar (one state per symbol) learned from trees in the first binarisation."""
        return self.grammar_sets_[0].coarse

    @property
    def pruner_(self) -> LatentGrammar | None:
        """The grammar with few states that prunes the first binarisation's forests; None if there is none."""
        return self.grammar_sets_[0].pruner

    @property
    def binariser_(self) -> Binariser:
        """The object that converts trees to binary trees in the first binarisation."""
        return self.grammar_sets_[0].binariser

    @property
    def chains_(self) -> Mapping[tuple[str, str], Sequence[str]]:
        """Full chain of labels for each unary chain that training compressed to its ends (top, bottom)."""
        return self.grammar_sets_[0].chains


class GrammarLearner(ABC):
    """Base class of objects that learn grammars from a treebank, or from parts of it for a jackknife.

    Attributes:
        trees: the treebank, or a part of it.
        coarse: grammar with one state per symbol, for each binarisation.
    """

    trees: Treebank
    coarse: Sequence[LatentGrammar]

    def describe_nodes(self) -> None:  # noqa: B027 (counting needs none)
        """Compute the vectors and clusters of nodes that `learn` needs; by default, do nothing."""

    @abstractmethod
    def learn(self) -> tuple[GrammarSet, ...]:
        """Learn and return the grammars of each binarisation."""

    @abstractmethod
    def select(self, trees: NDArray[np.bool_]) -> GrammarLearner:
        """Return a learner for some of the trees, which reuses the vectors and clusters of their nodes.

        Args:
            trees: bool (n_trees,); which trees to select.
        """


class TreebankEstimator(GrammarEstimator, MomentEstimator[Tree]):
    """Base class of estimators that learn grammars from stored trees.

    The other parts of a parser, such as its span scorer, are learned from the same stored trees.
    """

    signatures: str

    @abstractmethod
    def init_trees(self, corpus: Corpus[Tree]) -> Moments[Tree]:
        """Return an empty log of trees for each binarisation.

        Args:
            corpus: the training trees; the first ones may decide which head rules are used.
        """

    @abstractmethod
    def treebank(self, moments: Any) -> Treebank:
        """Return the trees that were collected in logs, as a treebank.

        Raises:
            InputError: there are no trees.
        """

    def describe(self, trees: Treebank) -> None:
        """Set all fitted attributes except the grammars, such as word counts and head rules.

        A progress message names the labels that are used both as tags and as phrase labels.
        """
        table, binariser = trees.first, trees.binarisers[0]
        for line in report_ambiguous_labels(ambiguous_labels_in_table(table)):
            report_progress(line)
        self.heads_ = binariser.heads
        self.n_trees_, self.word_counts_ = table.n_sentences, count_words(table)
        self.signatures_ = signature_scheme(self.signatures, self.word_counts_)
        self.decoder_, self.decoder_settings_ = self.default_decoder()

    @abstractmethod
    def default_decoder(self) -> tuple[str, dict[str, object]]:
        """Return the name and the settings of the decoder that parsers with these grammars use by default."""

    @abstractmethod
    def learner(self, trees: Treebank) -> GrammarLearner:
        """Return an object that learns grammars from a treebank, or from parts of it.

        Args:
            trees: treebank that was passed to `describe`.
        """

    def init_moments(self, corpus: Corpus[Tree]) -> Moments[Tree]:
        """Return empty logs of trees; a subclass may return counts instead, which are smaller."""
        return self.init_trees(corpus)

    def solve(self, moments: Any) -> None:
        """Learn grammars from logged trees.

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
        binary_rules: int32 (n_binary, 3); symbols (a, b, c) of each rule a → b c.
        binary: tensors of the binary rules, (m_a, m_b, m_c), where m_a is the number of states of a.
        unary_rules: int32 (n_unary, 2); symbols (a, b) of each rule a → b.
        unary: matrices of the unary rules, (m_a, m_b).
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
    """Assemble a grammar from its rules, root vectors and token statistics.

    Args:
        symbols: names of the symbols.
        n_states: int32 (n_symbols,); number of states of each symbol.
        rules: rules with their tensors.
        root: float64 (sum of n_states,); root vectors π of all symbols, concatenated.
        lexicons: builder of lexicons.
        z: float64 (n_pairs, m_max); sum of the vectors Z of each (word, tag) pair's tokens, see
            `LexiconMaker.make`.
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
