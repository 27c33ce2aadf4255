"""Tag scores: the posteriors of a tagger as factors of a parser's own lexical scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.inference.words.lexical import is_rare
from spectralnlp.parameters import Floats, LatentGrammar
from spectralnlp.trees.binarise import labels_of

_LEAST = 1e-4  # a tag that the tagger holds to be less probable is weighed as if it were this probable
# How probable a suggested tag is held to be; more makes trees worse (benchmarks/experiments/words.md).
_TRUSTED = 0.5


class TagModel(Protocol):
    """A tagger: any model of the task ``tagging``."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Names of the columns of `posteriors`."""

    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The best tags."""

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """float64 (n_words, n_tags)."""


@dataclass(frozen=True)
class SuggestedTags:
    """Tags that somebody else gave the words of one sentence, as a `TagModel` that knows this sentence only.

    Args:
        tags: names of the columns of `posteriors`.
        given: a tag for each word; an unknown or an empty one says nothing.
    """

    tags: tuple[str, ...]
    given: tuple[str, ...]

    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The tags that were given."""
        return [list(self.given) for _ in sentences]

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """float64 (n_words, n_tags): most of the probability goes to the tag that was given."""
        column = {tag: i for i, tag in enumerate(self.tags)}
        p = np.full((len(self.given), len(self.tags)), 1 / len(self.tags))
        for row, tag in enumerate(self.given):
            if tag in column:
                p[row] = (1 - _TRUSTED) / max(len(self.tags) - 1, 1)
                p[row, column[tag]] = _TRUSTED
        return p


@dataclass(frozen=True)
class TagEvidence:
    """A tagger beside a parser's own lexicon.

    It is asked for words that the lexicon has seen five times or less. Of others the lexicon and the grammar
    know more than the tagger: to weigh them too makes tags better and trees worse
    (benchmarks/experiments/words.md).

    Args:
        tagger: whose tags are those of the parser's treebank.
        weight: the values of a rare word's tags are multiplied with p(tag | sentence) to this power.
        fixed: take the tagger's tags as given instead, of all words.
    """

    tagger: TagModel
    weight: float = 1.0
    fixed: bool = False

    def check(self, grammar: LatentGrammar) -> None:
        """Raises ConfigError if the tagger's tags are not the grammar's, or the weight is negative."""
        if self.weight < 0:
            raise ConfigError(f"the weight of a tagger must not be negative: {self.weight}")
        own = {
            labels_of(symbol)[-1]
            for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
            if is_tag
        }
        strange = sorted(set(self.tagger.tags) - own)
        if 2 * len(strange) > len(self.tagger.tags):
            what = f"{len(strange)} of the tagger's tags, such as {strange[0]}, are not the parser's"
            raise ConfigError(what, hint="train the tagger on the parser's treebank")

    def given(self, words: Sequence[str]) -> tuple[str, ...] | None:
        """The tags that words must have, if they are fixed."""
        return tuple(self.tagger.best_tags([words])[0]) if self.fixed else None

    def weights(self, grammars: Sequence[LatentGrammar], words: Sequence[str]) -> list[Floats] | None:
        """Factors of symbols' values under each of some grammars of one treebank; the words are tagged once.

        Returns:
            For each grammar float64 (n_words, n_symbols); None where tags are fixed or no word is rare.
        """
        rare = np.array([is_rare(grammars[0].lexicon, word) for word in words])
        if self.fixed or not rare.any():
            return None
        columns = map(partial(_column_of_symbol, tags=self.tagger.tags), grammars)
        factors = np.maximum(self.tagger.posteriors(words), _LEAST) ** self.weight
        factors = np.concatenate([factors, np.full((len(words), 1), _LEAST**self.weight)], axis=1)
        factors[~rare] = 1.0
        return list(map(partial(np.take, factors, axis=1), columns))


@lru_cache(maxsize=64)
def _column_of_symbol(grammar: LatentGrammar, tags: tuple[str, ...]) -> NDArray[np.int64]:
    """int64 (n_symbols,): the tag that each symbol is; ``len(tags)`` for other tags and for phrases."""
    column = {tag: i for i, tag in enumerate(tags)}
    columns = [
        column.get(labels_of(symbol)[-1], len(tags)) if is_tag else len(tags)
        for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
    ]
    return np.array(columns)
