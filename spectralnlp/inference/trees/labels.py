"""The labels of symbols: how many brackets a symbol stands for, and numbers that grammars share.

Grammars of different binarisations, or of different trees, have different symbols and rules; they have in
common the labels of phrases and tags, and pairs of labels in unary rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.parameters import Ints, LatentGrammar
from spectralnlp.trees import is_intermediate, labels_of

# In place of a label or a pair of labels.
NO_LABEL = -1


class LabelMap(NamedTuple):
    """One grammar's symbols and unary rules as numbers that several grammars share.

    Attributes:
        bottom: int32 (n_symbols,); the label of a phrase or tag, NO_LABEL for intermediates.
        unary: int32 (n_unary,); the pair (top label, bottom label) of each unary rule.
    """

    bottom: Ints
    unary: Ints


@dataclass(frozen=True)
class SpanLabels:
    """The labels that several grammars share.

    Attributes:
        is_tag: bool (n_labels,).
        pairs: int32 (n_pairs, 2); top and bottom label of unary rules.
    """

    is_tag: NDArray[np.bool_]
    pairs: Ints


@dataclass(frozen=True)
class SharedLabels:
    """Labels of several grammars, with each grammar's symbols in these numbers.

    Attributes:
        names: of phrases and tags; a name that is both has two entries.
        labels: which of them are tags, and the pairs of labels of unary rules.
        maps: one for each grammar.
    """

    names: tuple[str, ...]
    labels: SpanLabels
    maps: tuple[LabelMap, ...]

    @classmethod
    def of(cls, grammars: Sequence[LatentGrammar]) -> SharedLabels:
        """Number the labels of grammars."""
        index: dict[tuple[str, bool], int] = {}
        pair_index: dict[tuple[int, int], int] = {}
        maps = []
        for grammar in grammars:
            numbers = [_number(index, grammar, symbol) for symbol in range(len(grammar.symbols))]
            bottom = np.array(numbers, np.int32)
            ends = bottom[grammar.unary_rules].reshape(-1, 2).tolist()
            unary = [pair_index.setdefault((top, below), len(pair_index)) for top, below in ends]
            maps.append(LabelMap(bottom, np.array(unary, np.int32)))
        labels = SpanLabels(
            is_tag=np.array([is_tag for _, is_tag in index], bool),
            pairs=np.array(list(pair_index), np.int32).reshape(-1, 2),
        )
        return cls(tuple(name for name, _ in index), labels, tuple(maps))


def _number(index: dict[tuple[str, bool], int], grammar: LatentGrammar, symbol: int) -> int:
    name = grammar.symbols[symbol]
    if is_intermediate(name):
        return NO_LABEL
    return index.setdefault((labels_of(name)[-1], bool(grammar.is_tag[symbol])), len(index))


def bracket_counts(grammar: LatentGrammar) -> Ints:
    """int32 (n_symbols,): how many constituents each symbol stands for."""
    counts = [
        0 if is_intermediate(symbol) else len(labels_of(symbol)) - int(is_tag)
        for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
    ]
    return np.array(counts, np.int32)
