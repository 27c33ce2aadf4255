"""Tokenise a text, remove stop words, and stem the words; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, TypeAlias

import snowballstemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from spectralnlp.text.content import content_words
from spectralnlp_sketch.errors import SizeError
from spectralnlp_sketch.hashing.ngrams import checked_text

# ``english``, a collection of words, or None for no stop words.
StopWords: TypeAlias = str | list[str] | tuple[str, ...] | set[str] | frozenset[str] | None


def prepare(text: str, stop_words: str | Collection[str] | None = "english", stem: bool = True) -> list[str]:
    """Return the tokens of a text without stop words, stemmed (Su, Lin and Kuo 2019, section 4.2).

    Args:
        text: text to tokenise.
        stop_words: ``english`` for scikit-learn's list, a collection of words, or None to keep all words. The
            list contains *not* and *no*, which matter for sentiment classification.
        stem: whether to stem with Porter's stemmer.

    Examples:
        >>> from spectralnlp_sketch import prepare
        >>> prepare("The boats are leaving the harbours")
        ['boat', 'leav', 'harbour']
    """
    dropped = stop_list(stop_words)
    tokens = [word for word in content_words(checked_text(text)) if word not in dropped]
    return [_porter(word) for word in tokens] if stem else tokens


def stop_list(stop_words: str | Collection[str] | None) -> Collection[str]:
    """Return the stop words to remove, from the setting of an estimator.

    Args:
        stop_words: ``english`` for scikit-learn's list, a collection of words, or None for no stop words.

    Raises:
        SizeError: there is no stop-word list of that name.
    """
    if stop_words is None:
        return ()
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise SizeError(f"no stop words of {stop_words!r}", hint="take english, or give a list of words")
        return ENGLISH_STOP_WORDS
    return stop_words


@cache
def _porter(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    return snowballstemmer.stemmer("porter")
