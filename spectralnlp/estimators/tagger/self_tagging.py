"""Classes of words by the tags that a first tagger gives them in unlabelled text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.linear_chains import best_tags
from spectralnlp.inference.chains.scorer import Scorer
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.parameters import ChainWeights, WordClasses
from spectralnlp.text.blocks import is_tokenised
from spectralnlp.text.sentences import split_sentences
from spectralnlp.text.tokenizer import Tokenizer

# Words that occur less often have no class.
_FEWEST = 2
# The second tag of a word is part of its class if it has this share of the word's occurrences.
_SECOND_SHARE = 0.05
# Words that there is space for at first.
_CAPACITY = 1 << 12


def tag_classes(
    weights: ChainWeights,
    features: UnlabelledFeatures,
    text: Iterable[str],
    tokenizer: Tokenizer,
    left_out: Collection[tuple[str, ...]],
) -> WordClasses:
    """Return classes of the words of a text that is tagged.

    Args:
        weights, features: of the tagger.
        text: in blocks of lines; no sentence goes on in the next line, and where marks stand apart from words
            each line is a sentence.
        tokenizer: cuts text as the training data does.
        left_out: sentences that are not looked at: the tagger has learned their tags by heart.
    """
    counts = TagCounts(len(weights.tags))
    scorer = Scorer(weights, features)
    for block in text:
        sentences = [words for words in _sentences(block, tokenizer) if words and words not in left_out]
        if sentences:
            emissions, starts = scorer.emissions(sentences)
            tags = best_tags(emissions, starts, weights.transitions, weights.start, weights.end)
            counts.add([word for words in sentences for word in words], tags)
    return classes_of(counts.words, counts.table)


def _sentences(block: str, tokenizer: Tokenizer) -> Iterator[tuple[str, ...]]:
    are_sentences = is_tokenised(block)
    for line in block.splitlines():
        if are_sentences:
            yield tuple(token.form for token in tokenizer.tokenize(line))
        else:
            for sentence in split_sentences([line], tokenizer):
                yield tuple(token.form for token in sentence.tokens)


class TagCounts:
    """How often each word, in small letters, has each tag.

    Args:
        n_tags: how many tags there are.
    """

    def __init__(self, n_tags: int) -> None:
        self._row_of: dict[str, int] = {}
        self._table = np.zeros((_CAPACITY, n_tags), np.int64)

    @property
    def words(self) -> list[str]:
        """The words seen, in the order of the rows of `table`."""
        return list(self._row_of)

    @property
    def table(self) -> NDArray[np.int64]:
        """int64 (n_words, n_tags)."""
        return self._table[: len(self._row_of)]

    def add(self, words: Iterable[str], tags: NDArray[np.int32]) -> None:
        """Count words with their tags."""
        number = self._row_of
        rows = np.array([number.setdefault(word.lower(), len(number)) for word in words], np.int64)
        while len(number) > len(self._table):
            self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        np.add.at(self._table, (rows, tags), 1)


def classes_of(words: Iterable[str], counts: NDArray[np.int64]) -> WordClasses:
    """Return classes of the words that occur often enough: the tag that a word mostly has, and the second.

    Args:
        words: different words in small letters.
        counts: int64 (n_words, n_tags); how often each has each tag.
    """
    total, n_tags = counts.sum(axis=1), counts.shape[1]
    order = np.argsort(-counts, axis=1, kind="stable")
    first, second = order[:, 0], order[:, min(1, n_tags - 1)]
    has_second = counts[np.arange(len(counts)), second] > _SECOND_SHARE * total
    pair = first * (n_tags + 1) + np.where(has_second, second, n_tags)
    often = total >= _FEWEST
    _, classes = np.unique(pair[often], return_inverse=True)
    kept = tuple(word for word, is_often in zip(words, often.tolist(), strict=True) if is_often)
    return WordClasses(words=kept, classes=(classes + 1).astype(np.int32))
