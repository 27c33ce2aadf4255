"""Head rules and signatures: English ones for English trees, those of no language for others."""

from __future__ import annotations

from itertools import islice

from ..corpus import Corpus
from ..text.conventions import Conventions
from ..trees import Tree

AUTO = "auto"
_ENOUGH = 200  # trees that tell English from other languages


def language_rules(heads: str, signatures: str, corpus: Corpus[Tree]) -> tuple[str, str]:
    """Names of the head rules and of the signatures to use; ``auto`` looks at the words of the first trees.

    Args:
        heads: name of head rules, or ``auto``.
        signatures: name of a signature function, or ``auto``.
        corpus: the treebank.
    """
    if AUTO not in (heads, signatures):
        return heads, signatures
    words = (word for tree in islice(corpus, _ENOUGH) for word in tree.words())
    found = "english" if Conventions.learn(words).language == "en" else "neutral"
    return found if heads == AUTO else heads, found if signatures == AUTO else signatures
