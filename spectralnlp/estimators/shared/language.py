"""Head rules and signatures: English ones for English trees, those of no language for others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import islice

from spectralnlp.runtime import Corpus
from spectralnlp.text.conventions import language_of
from spectralnlp.trees import Tree

AUTO, _NEUTRAL = "auto", "neutral"
_ENOUGH = 200  # trees that tell English from other languages


def head_rules(heads: str, corpus: Corpus[Tree]) -> str:
    """The name of the head rules to use; ``auto`` looks at the words of the first trees.

    Args:
        heads: name of head rules, or ``auto``.
        corpus: the treebank.
    """
    if heads != AUTO:
        return heads
    return _rules_for(Counter(word for tree in islice(corpus, _ENOUGH) for word in tree.words()))


def usual_binarisation(heads: str) -> str:
    """Return ``head`` where head rules are good, of English, and else ``left``, which needs none.

    Args:
        heads: name of the head rules.
    """
    return "left" if heads == _NEUTRAL else "head"


def signature_scheme(signatures: str, word_counts: Mapping[str, int]) -> str:
    """The name of the signatures to use; ``auto`` looks at all words.

    Args:
        signatures: name of a signature function, or ``auto``.
        word_counts: how often each word occurs in the treebank, or in its first sentences.
    """
    return signatures if signatures != AUTO else _rules_for(word_counts)


def _rules_for(word_counts: Mapping[str, int]) -> str:
    return "english" if language_of(word_counts) == "en" else _NEUTRAL
