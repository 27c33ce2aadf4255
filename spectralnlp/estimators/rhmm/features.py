"""Features of tokens: of the word, of what stands before it and of what follows.

With h the refinement of a token's tag, the three are independent given h. So each can be seen through the
others: the *chain* is what is before (outside) against the word and what follows (inside); the *word* is its
spelling (inside) against all the rest (outside).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp.estimators.rhmm.moments import TagTable
from spectralnlp.text.signatures import Signature
from spectralnlp.trees.features import NodeFeatures, common_words, hash_answers


@dataclass(frozen=True)
class TokenFeatures:
    """Features of every token, as identifiers.

    Attributes:
        chain: inside, the word and the future; outside, the past.
        word: inside, the spelling; outside, the past and the future.
    """

    chain: NodeFeatures
    word: NodeFeatures


def token_features(table: TagTable, signature: Signature) -> TokenFeatures:
    """The features of every token.

    Args:
        table: the tokens.
        signature: of a word and its position; stands for rare words.
    """
    view = _View(table)
    tag = table.tag.astype(np.uint64) + np.uint64(1)
    lower = view.of_words(str.lower)
    tokens = np.bincount(table.word, minlength=len(table.words))
    common = view.of_words(common_words(table.words, tokens, signature))
    ending = view.of_words(lambda word: word.lower()[-3:])
    before, after = ([view.at(tag, sign * k) for k in (1, 2, 3)] for sign in (-1, 1))
    spelling = [
        hash_answers(1, lower),
        hash_answers(2, view.of_words(lambda word: word.lower()[-2:])),
        hash_answers(3, ending),
        hash_answers(4, view.of_words(lambda word: signature(word, 1))),
    ]
    past = [
        hash_answers(11, before[0]),
        hash_answers(12, *before[:2]),
        hash_answers(13, *before),
        hash_answers(14, view.at(common, -1)),
        hash_answers(15, view.at(common, -1), before[0]),
        hash_answers(16, view.at(common, -2)),
        hash_answers(17, view.at(ending, -1)),
    ]
    future = [
        hash_answers(21, after[0]),
        hash_answers(22, *after[:2]),
        hash_answers(23, *after),
        hash_answers(24, view.at(common, 1)),
        hash_answers(25, view.at(common, 1), after[0]),
        hash_answers(26, view.at(common, 2)),
        hash_answers(27, view.at(ending, 1)),
    ]
    return TokenFeatures(
        chain=NodeFeatures(inside=[*spelling, *future], outside=past),
        word=NodeFeatures(inside=spelling, outside=[*past, *future]),
    )


class _View:
    """Columns of integers over the tokens of a table."""

    def __init__(self, table: TagTable) -> None:
        self.table = table

    def at(self, column: NDArray[np.uint64], distance: int) -> NDArray[np.uint64]:
        """The value of the token so far ahead (behind, if negative); 0 beyond the sentence."""
        n = self.table.n_tokens
        there = np.arange(n) + distance
        inside = (there >= 0) & (there < n)
        there = np.clip(there, 0, max(n - 1, 0))
        inside &= self.table.sentence[there] == self.table.sentence
        return np.where(inside, column[there], np.uint64(0))

    def of_words(self, names: Callable[[str], str] | Sequence[str]) -> NDArray[np.uint64]:
        """A name for each word type, or a function that gives it, as numbers from 1 over the tokens."""
        named = map(names, self.table.words) if callable(names) else names
        index: dict[str, int] = {}
        numbers = [index.setdefault(name, len(index) + 1) for name in named]
        return np.array(numbers, np.uint64)[self.table.word]
