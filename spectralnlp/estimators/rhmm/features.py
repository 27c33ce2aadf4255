"""Compute features of tokens: of the word, of the context before it (past) and after it (future).

Given the refinement of the token's tag, the three are independent, so the cross-covariance of any two of them
reveals the refinements. The *chain* view pairs the past (outside) with the word and the future (inside). The
*word* view pairs the spelling of the word (inside) with the past and the future (outside).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.text.signatures import Signature
from spectralnlp.trees.features import NodeFeatures, common_words, hash_columns


@dataclass(frozen=True)
class TokenFeatures:
    """Hashed features of every token, as pairs of inside and outside features, for two decompositions.

    Attributes:
        chain: for transitions; inside features from the word and the future, outside features from the past.
        word: for emissions; inside features from the spelling, outside features from the past and the future.
    """

    chain: NodeFeatures
    word: NodeFeatures


def token_features(table: TagTable, signature: Signature) -> TokenFeatures:
    """Compute hashed features of every token: of its spelling, and of the words and tags around it.

    Args:
        table: tokens of tagged sentences.
        signature: function that maps a word and its position to its spelling class, which stands
            for rare words.
    """
    view = _View(table)
    tag = table.tag.astype(np.uint64) + np.uint64(1)
    lower = view.of_words(str.lower)
    tokens = np.bincount(table.word, minlength=len(table.words))
    common = view.of_words(common_words(table.words, tokens, signature))
    ending = view.of_words(lambda word: word.lower()[-3:])
    before, after = ([view.at(tag, sign * k) for k in (1, 2, 3)] for sign in (-1, 1))
    spelling = [
        hash_columns(1, lower),
        hash_columns(2, view.of_words(lambda word: word.lower()[-2:])),
        hash_columns(3, ending),
        hash_columns(4, view.of_words(lambda word: signature(word, 1))),
    ]
    past = [
        hash_columns(11, before[0]),
        hash_columns(12, *before[:2]),
        hash_columns(13, *before),
        hash_columns(14, view.at(common, -1)),
        hash_columns(15, view.at(common, -1), before[0]),
        hash_columns(16, view.at(common, -2)),
        hash_columns(17, view.at(ending, -1)),
    ]
    future = [
        hash_columns(21, after[0]),
        hash_columns(22, *after[:2]),
        hash_columns(23, *after),
        hash_columns(24, view.at(common, 1)),
        hash_columns(25, view.at(common, 1), after[0]),
        hash_columns(26, view.at(common, 2)),
        hash_columns(27, view.at(ending, 1)),
    ]
    return TokenFeatures(
        chain=NodeFeatures(inside=[*spelling, *future], outside=past),
        word=NodeFeatures(inside=spelling, outside=[*past, *future]),
    )


class _View:
    """Helper that computes an integer for every token of a table, such as the id of its ending."""

    def __init__(self, table: TagTable) -> None:
        self.table = table

    def at(self, column: NDArray[np.uint64], distance: int) -> NDArray[np.uint64]:
        """Shift a column: return, for each token, the value of the token ``distance`` positions ahead.

        Args:
            column: uint64 (n_tokens,); value of each token.
            distance: number of positions; negative to look back. Beyond the sentence the value is 0.
        """
        n = self.table.n_tokens
        there = np.arange(n) + distance
        inside = (there >= 0) & (there < n)
        there = np.clip(there, 0, max(n - 1, 0))
        inside &= self.table.sentence[there] == self.table.sentence
        return np.where(inside, column[there], np.uint64(0))

    def of_words(self, names: Callable[[str], str] | Sequence[str]) -> NDArray[np.uint64]:
        """Assign ids, from 1, to the names of word types, and return the id of each token's word.

        Args:
            names: name of each word type, or a function that maps a word type to its name.
        """
        named = map(names, self.table.words) if callable(names) else names
        index: dict[str, int] = {}
        numbers = [index.setdefault(name, len(index) + 1) for name in named]
        return np.array(numbers, np.uint64)[self.table.word]
