"""Universal part-of-speech tags of English words, from their Penn tags and dependency relations.

The tables follow https://universaldependencies.org/u/pos/ and the English guidelines.
"""

from __future__ import annotations

from collections.abc import Sequence

from spectralnlp_trees.dependencies.words import BE, NOT, PUNCTUATION

_TAGS = {
    **dict.fromkeys(["NN", "NNS"], "NOUN"),
    **dict.fromkeys(["NNP", "NNPS"], "PROPN"),
    **dict.fromkeys(["JJ", "JJR", "JJS"], "ADJ"),
    **dict.fromkeys(["RB", "RBR", "RBS", "WRB"], "ADV"),
    **dict.fromkeys(["IN", "RP"], "ADP"),
    **dict.fromkeys(["PRP", "PRP$", "WP", "WP$", "EX", "WDT", "DT"], "PRON"),
    **dict.fromkeys(["VB", "VBD", "VBG", "VBN", "VBP", "VBZ"], "VERB"),
    **dict.fromkeys(["FW", "LS", "GW", "XX", "ADD", "AFX"], "X"),
    **dict.fromkeys(["SYM", "$", "#"], "SYM"),
    **dict.fromkeys(["TO", "POS"], "PART"),
    **dict.fromkeys(PUNCTUATION, "PUNCT"),
    "PDT": "DET",
    "MD": "AUX",
    "CC": "CCONJ",
    "CD": "NUM",
    "UH": "INTJ",
}
_PRONOUNS = frozenset(
    f"{some}{one}" for some in ("some", "any", "every", "no") for one in ("thing", "one", "body")
) | {"nothing", "none"}
_DETERMINERS = ("det", "det:predet", "advmod", "cc:preconj")
_AUXILIARIES = ("aux", "aux:pass", "cop")


def universal_tags(
    words: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> list[str]:
    """Return the universal part-of-speech tag of each word; ``X`` for tags that the Penn treebank lacks.

    Args:
        words: words of a sentence, in lower case.
        tags: Penn treebank tag of each word.
        heads: index of each word's head; -1 for the root.
        relations: universal relation of each word to its head.
    """
    existential = {
        head
        for head, word, relation in zip(heads, words, relations, strict=True)
        if relation == "expl" and word == "there"
    }
    universal = []
    for index, (word, tag, relation) in enumerate(zip(words, tags, relations, strict=True)):
        upos = _TAGS.get(tag, "X")
        if upos == "VERB":
            copula = word in BE and index not in existential and relation not in ("conj", "xcomp")
            upos = "AUX" if relation in _AUXILIARIES or copula else upos
        elif tag in ("DT", "WDT") and (relation in _DETERMINERS or word in ("the", "a", "an", "every")):
            upos = "DET"
        elif tag == "IN" and (relation == "mark" or word in ("that", "if", "because", "whether", "although")):
            upos = "SCONJ" if relation not in ("case", "fixed") else upos
        elif tag == "NN" and word in _PRONOUNS:
            upos = "PRON"
        elif tag in ("RB", "RBR") and word in NOT:
            upos = "PART"
        elif tag == "TO" and relation == "case":
            upos = "ADP"
        elif word == "%":
            upos = "SYM"
        universal.append(upos)
    return universal
