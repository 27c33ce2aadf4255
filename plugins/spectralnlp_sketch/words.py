"""Words of a text as bags and sequences want them: stop words, stems. Nothing is downloaded."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, TypeAlias

import snowballstemmer
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from spectralnlp.text.content import content_words
from spectralnlp_sketch.errors import SizeError

# ``english``, words of one's own, or None: no word is left out.
StopWords: TypeAlias = str | list[str] | tuple[str, ...] | set[str] | frozenset[str] | None


def prepare(text: str, stop_words: str | Collection[str] | None = "english", stem: bool = True) -> list[str]:
    """Return the tokens of a text without stop words, stemmed (Su, Lin and Kuo 2019, section 4.2).

    Args:
        text: any.
        stop_words: ``english``, scikit-learn's list; words of your own; or None: all are kept. The list
            drops *not* and *no*, which a classifier of sentiment misses.
        stem: whether to stem, by Porter's stemmer.

    Examples:
        >>> from spectralnlp_sketch import prepare
        >>> prepare("The boats are leaving the harbours")
        ['boat', 'leav', 'harbour']
    """
    dropped = stop_list(stop_words)
    tokens = [word for word in content_words(text) if word not in dropped]
    return [_porter(word) for word in tokens] if stem else tokens


def stop_list(stop_words: str | Collection[str] | None) -> Collection[str]:
    """Return the words that a setting names.

    Raises:
        SizeError: a language that there is no list of.
    """
    if stop_words is None:
        return ()
    if isinstance(stop_words, str):
        if stop_words != "english":
            raise SizeError(f"no stop words of {stop_words!r}", hint="take english, or give a set of words")
        return ENGLISH_STOP_WORDS
    return stop_words


@cache
def _porter(word: str) -> str:
    return str(_stemmer().stemWord(word))


@cache
def _stemmer() -> Any:
    return snowballstemmer.stemmer("porter")
