"""Let a parser use a tagger: tag posteriors become factors of the parser's lexical scores."""

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

_LEAST = 1e-4  # smaller tag probabilities are raised to this one
# Probability given to a suggested tag; a larger one makes trees worse (benchmarks/experiments/words.md).
_TRUSTED = 0.5


class TagModel(Protocol):
    """Protocol of taggers that a parser can use; all models of the task ``tagging`` implement it."""

    @property
    def tags(self) -> tuple[str, ...]:
        """Names of the tags, the columns of `posteriors`."""

    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the best tag of each word of each sentence."""

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """Return the posterior probability of each tag, float64 (n_words, n_tags)."""


@dataclass(frozen=True)
class SuggestedTags:
    """A `TagModel` for a single sentence, whose words have been tagged already.

    Args:
        tags: names of the tags, the columns of `posteriors`.
        suggested: a tag for each word; an unknown or empty tag gives a uniform distribution.
    """

    tags: tuple[str, ...]
    suggested: tuple[str, ...]

    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the tags that were suggested for the words of the sentence."""
        return [list(self.suggested) for _ in sentences]

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """Return tag probabilities, 0.5 for the suggested tag of each word, float64 (n_words, n_tags)."""
        column = {tag: i for i, tag in enumerate(self.tags)}
        p = np.full((len(self.suggested), len(self.tags)), 1 / len(self.tags))
        for row, tag in enumerate(self.suggested):
            if tag in column:
                p[row] = (1 - _TRUSTED) / max(len(self.tags) - 1, 1)
                p[row, column[tag]] = _TRUSTED
        return p


@dataclass(frozen=True)
class TagEvidence:
    """A tagger whose tag probabilities supplement the lexicon of a parser.

    The probabilities are used for words that occur at most five times in the parser's training data. Using
    them for frequent words too makes tags better but trees worse (benchmarks/experiments/words.md).

    Args:
        tagger: a tagger with the tags of the parser's treebank.
        weight: exponent w; the lexical scores of a rare word are multiplied by p(tag | sentence)^w.
        fixed: whether trees must have the tagger's best tags for all words; ``weight`` is then not used.
    """

    tagger: TagModel
    weight: float = 1.0
    fixed: bool = False

    def check(self, grammar: LatentGrammar) -> None:
        """Raise a ConfigError if the grammar lacks over half of the tags, or the weight is negative."""
        if self.weight < 0:
            raise ConfigError(f"the weight of a tagger must not be negative: {self.weight}")
        grammar_tags = {
            labels_of(symbol)[-1]
            for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
            if is_tag
        }
        strange = sorted(set(self.tagger.tags) - grammar_tags, key=str)
        if 2 * len(strange) > len(self.tagger.tags):
            what = f"{len(strange)} of the tagger's tags, such as {strange[0]}, are not the parser's"
            raise ConfigError(what, hint="train the tagger on the parser's treebank")

    def fixed_tags(self, words: Sequence[str]) -> tuple[str, ...] | None:
        """Return the tags that the parser's tree must have; None if the tagger does not fix tags."""
        return tuple(self.tagger.best_tags([words])[0]) if self.fixed else None

    def weights(self, grammars: Sequence[LatentGrammar], words: Sequence[str]) -> list[Floats] | None:
        """Return the factors by which the lexical scores of tags are multiplied, for each grammar.

        Args:
            grammars: grammars learned from the same treebank.
            words: the words of a sentence.

        Returns:
            For each grammar, float64 (n_words, n_symbols), 1 for words that are not rare; None if tags are
            fixed or no word is rare.
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
    """Return the index in ``tags`` of each symbol's tag, int64 (n_symbols,); ``len(tags)`` if absent."""
    column = {tag: i for i, tag in enumerate(tags)}
    columns = [
        column.get(labels_of(symbol)[-1], len(tags)) if is_tag else len(tags)
        for symbol, is_tag in zip(grammar.symbols, grammar.is_tag, strict=True)
    ]
    return np.array(columns)
