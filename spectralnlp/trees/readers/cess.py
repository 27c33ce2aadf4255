"""Reader for the Spanish treebank CESS-ESP as in NLTK: ISO-8859-15 brackets with leaves ``word lemma``."""

from __future__ import annotations

import re

from spectralnlp.trees.readers.reader import TreeReader

_PHRASE = re.compile(r"\((?:sn|sp|sa|s\.a|S\.|grup\.|espec|prep|coord|relatiu)\b")
_LEAF = re.compile(r"\(([^()\s]+)[ \t]+([^()\s]+)(?:[ \t]+([^()\s]+))?\)")
# Forms for characters that the format or the encoding made awkward.
_WORDS = {"-Fpa-": "-LRB-", "-Fpt-": "-RRB-", "-fe-": '"'}


def _looks_like_cess(head: str) -> bool:
    # Two parts under every tag but the elided subject's, and tags in EAGLES style such as da0ms0 or Fp.
    leaves = [found.groups() for found in _LEAF.finditer(head)]
    tags = [tag for tag, word, _ in leaves if word != "*0*"]
    return (
        _PHRASE.search(head) is not None
        and bool(tags)
        and all(lemma or word == "*0*" for _, word, lemma in leaves)
        and all(re.fullmatch(r"[a-z][a-z0-9]*|[A-Z][a-z]*", tag) for tag in tags)
    )


def _word_before_lemma(parts: list[str]) -> str | None:
    """Return the word of a leaf ``word lemma``; None if the leaf has another form.

    An elided word, ``*0*``, has no lemma. Words that CESS joins by underscores, such as ``51_por_ciento``,
    remain one token, as they have one tag.
    """
    if len(parts) == 2 or parts == ["*0*"]:
        return _WORDS.get(parts[0], parts[0])
    return None


CESS_ESP = TreeReader("iso-8859-15", _looks_like_cess, _word_before_lemma)
