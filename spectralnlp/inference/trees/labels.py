"""Map the symbols of grammars to labels, so that grammars of different binarisations can be combined.

Grammars of different binarisations, or of different trees, have different symbols and rules. What they have
in common are the labels of phrases and tags, and the pairs of labels in unary rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.parameters import GrammarSet, Ints, LatentGrammar
from spectralnlp.trees import is_intermediate, labels_of

# The id of a missing label or pair of labels.
NO_LABEL = -1


class LabelMap(NamedTuple):
    """Mapping from the symbols and unary rules of one grammar to label ids that several grammars share.

    Attributes:
        bottom: int32 (n_symbols,); id of the symbol's label, NO_LABEL for intermediate symbols.
        unary: int32 (n_unary,); id of each unary rule's pair (top label, bottom label).
    """

    bottom: Ints
    unary: Ints


@dataclass(frozen=True)
class SpanLabels:
    """Which of the labels that several grammars share are tags, and which pairs occur in unary rules.

    Attributes:
        is_tag: bool (n_labels,); whether a label is a tag.
        pairs: int32 (n_pairs, 2); ids of the top and the bottom label of each pair.
    """

    is_tag: NDArray[np.bool_]
    pairs: Ints


@dataclass(frozen=True)
class SharedLabels:
    """Common ids for the labels of several grammars, and a map from each grammar's symbols to these ids.

    Attributes:
        names: the names of phrase labels and tags, by id; a name that is both has two ids.
        labels: which labels are tags, and the pairs of labels of unary rules.
        maps: for each grammar, the ids of the labels of its symbols and unary rules.
    """

    names: tuple[str, ...]
    labels: SpanLabels
    maps: tuple[LabelMap, ...]

    @classmethod
    def of(cls, grammars: Sequence[LatentGrammar]) -> SharedLabels:
        """Assign ids to the labels of grammars, and to the pairs (top, bottom) of labels in unary rules."""
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
    """Return the number of constituents that each symbol stands for, int32 (n_symbols,).

    It is 0 for tags and intermediate symbols, 1 for phrases, and more for collapsed unary chains (S+VP).
    """
    counts = [
        0 if is_intermediate(symbol) else len(labels_of(symbol)) - int(is_tag)
        for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
    ]
    return np.array(counts, np.int32)


def tag_codes(grammar: LatentGrammar) -> NDArray[np.int64]:
    """Return a hash of each symbol's label, int64 (n_symbols,); 0 for intermediate symbols.

    A symbol that is a collapsed unary chain (NP+NN) is represented by the lowest label (NN), without
    annotation. A tag therefore has the same code in all grammars, whatever their symbols.
    """
    labels = (labels_of(symbol) for symbol in grammar.symbols)
    return np.array([crc32(label[-1].encode()) if label else 0 for label in labels], np.int64)


def symbols_of_tags(grammar: LatentGrammar, tags: Sequence[str | None]) -> NDArray[np.bool_]:
    """Return which of a grammar's tag symbols each token may have, bool (n_tokens, n_symbols).

    Args:
        grammar: any grammar.
        tags: the tag of each token; None, or a tag that the grammar does not have, allows all tag symbols.
    """
    return np.array([grammar.is_tag if tag is None else _symbols_of_tag(grammar, tag) for tag in tags])


@lru_cache(maxsize=4096)
def _symbols_of_tag(grammar: LatentGrammar, tag: str) -> NDArray[np.bool_]:
    is_it = [
        bool(known) and labels_of(symbol)[-1] == tag
        for symbol, known in zip(grammar.symbols, grammar.is_tag, strict=True)
    ]
    return np.array(is_it) if any(is_it) else grammar.is_tag


def check_labels(sets: Sequence[GrammarSet]) -> None:
    """Check that grammar sets have the same labels, so that their posteriors can be averaged.

    Raises:
        ConfigError: the labels differ; the message names a label that is not in all of the grammars.
    """
    first, *others = (_names(each.coarse) for each in sets)
    for number, labels in enumerate(others, start=2):
        if labels != first:
            name, is_tag = min(labels ^ first)
            where = "the first alone" if (name, is_tag) in first else f"number {number} alone"
            what = (
                f"grammars of a pool differ in labels: {where} has the {'tag' if is_tag else 'phrase'} {name}"
            )
            raise ConfigError(what, hint="train them on the same trees")


def _names(grammar: LatentGrammar) -> set[tuple[str, bool]]:
    return {
        (labels_of(name)[-1], bool(is_tag))
        for name, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
        if not is_intermediate(name)
    }
