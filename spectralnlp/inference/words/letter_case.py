"""Find the likely letter case of words in sentences that are all capitals or all lower case."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spectralnlp.parameters import Lexicon

# How many times as frequent a word must be with a capital, to be read so in a sentence without capitals:
# many texts that are no chat have such sentences, items of lists for example.
_MORE_FREQUENT = math.log(4.0)


def likely_case(lexicon: Lexicon, words: Sequence[str]) -> Sequence[str]:
    """Return the words of a sentence in the letter case in which a lexicon has them most often.

    A sentence in capitals is read in lower case but for names; one without capitals gets those of names and
    of "I"; elsewhere, an unknown word in capitals, which may be emphasis, is read in lower case if it is
    known so. All other words are returned as they are.

    Args:
        lexicon: the lexicon.
        words: tokens, written in the model's tokenisation conventions.
    """
    text = "".join(words)
    if text.isupper():
        return [_most_frequent(lexicon, word, (word.lower(), word.capitalize()), 0.0) for word in words]
    if text.islower():
        return [_most_frequent(lexicon, word, (word.capitalize(),), _MORE_FREQUENT) for word in words]
    if not any(map(_may_be_emphasis, words)):
        return words
    index = lexicon.word_index
    return [
        word.lower() if _may_be_emphasis(word) and word not in index and word.lower() in index else word
        for word in words
    ]


def _may_be_emphasis(word: str) -> bool:
    return len(word) > 1 and word.isupper()


def _most_frequent(lexicon: Lexicon, word: str, others: Sequence[str], margin: float) -> str:
    """Return the most frequent of a word's forms; the word itself unless another is so by a margin.

    Args:
        lexicon: the lexicon.
        word: the word as it is written.
        others: other forms of the word.
        margin: natural logarithm of how many times as frequent another form must be.
    """
    best, most = word, _log_weight(lexicon, word) + margin
    for other in others:
        if (weight := _log_weight(lexicon, other)) > most:
            best, most = other, weight
    return best


def _log_weight(lexicon: Lexicon, word: str) -> float:
    entry = lexicon.word_index.get(word)
    return -math.inf if entry is None else float(lexicon.log_weight[entry])
