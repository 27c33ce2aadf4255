"""Choose head rules and word signatures: English ones for English, language-neutral ones otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice

from spectralnlp.runtime import Corpus, each_row
from spectralnlp.text.conventions import language_of
from spectralnlp.trees import Tree, check_tree

AUTO, _NEUTRAL = "auto", "neutral"
_ENOUGH = 200  # number of trees used to recognise English


def head_rules(heads: str, corpus: Corpus[Tree]) -> str:
    """Return the name of the head rules to use, which find the head child of a phrase.

    Args:
        heads: name of head rules, or ``auto`` to choose by the words of the first trees.
        corpus: the treebank.
    """
    if heads != AUTO:
        return heads
    trees = each_row(check_tree, islice(corpus, _ENOUGH))
    return _rules_for(Counter(word for tree in trees for word in tree.words()))


def default_binarisation(heads: str) -> str:
    """Return the default binarisation: ``left`` for the language-neutral head rules, else ``head``.

    Args:
        heads: name of the head rules.
    """
    return "left" if heads == _NEUTRAL else "head"


def signature_scheme(signatures: str, word_counts: Mapping[str, int]) -> str:
    """Return the name of the function that maps unknown words to signatures (spelling classes).

    Args:
        signatures: name of a signature function, or ``auto`` to choose by the words.
        word_counts: frequency of each word in the treebank, or in its first sentences.
    """
    return signatures if signatures != AUTO else _rules_for(word_counts)


def _rules_for(word_counts: Mapping[str, int]) -> str:
    return "english" if language_of(word_counts) == "en" else _NEUTRAL
