"""What an estimator of grammars gives: grammars by the binarisation that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..estimator import Estimator
from ..parameters import LatentGrammar
from ..trees import Binariser


@dataclass(frozen=True)
class GrammarSet:
    """Grammars over one forest.

    Attributes:
        binariser: how trees become binary.
        chains: the full unary chain to write for (top, bottom), where it has a middle.
        coarse: the plain PCFG, of one state a symbol, which makes forests.
        pruner: a grammar of a few states that thins them, or None.
        grammars: those that score what is left.
    """

    binariser: Binariser
    chains: Mapping[tuple[str, str], Sequence[str]]
    coarse: LatentGrammar
    pruner: LatentGrammar | None
    grammars: tuple[LatentGrammar, ...]


class GrammarEstimator(Estimator):
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
