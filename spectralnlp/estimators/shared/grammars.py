"""Estimators of grammars, for the task of parsing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spectralnlp.estimator import Estimator
from spectralnlp.parameters import GrammarSet, LatentGrammar
from spectralnlp.trees import Binariser, Tree


class GrammarEstimator(Estimator[Tree]):
    """An estimator of grammars, for the task of parsing.

    Attributes:
        grammar_sets_: one for each binarisation.
        n_trees_: training trees.
        word_counts_: how often each word occurred.
        decoder_, decoder_settings_: what a parser decodes with unless told otherwise.
    """

    task = "parsing"

    grammar_sets_: tuple[GrammarSet, ...]
    n_trees_: int
    word_counts_: Mapping[str, int]
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
