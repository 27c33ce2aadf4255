"""Rules for dependency relations within English adjective, adverb, number and prepositional phrases."""

from __future__ import annotations

from spectralnlp_trees.dependencies.content_heads import is_adverbial_noun
from spectralnlp_trees.dependencies.nominals import is_finite, nominal_relation, parenthetical, range_relation
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import CLAUSES, NOMINAL, NOUN_TAGS, PREPOSITIONAL, word_set

_TABLE = {
    **dict.fromkeys(["RB", "RBR", "RBS", "ADVP", "WRB", "WHADVP", "WHADJP"], "advmod"),
    **dict.fromkeys(["DT", "PDT", "WDT"], "advmod"),
    **dict.fromkeys(["CD", "QP"], "nummod"),
    **dict.fromkeys(["JJ", "JJR", "JJS", "ADJP"], "amod"),
    **dict.fromkeys(["VBN", "VBG", "VB"], "amod"),
    **dict.fromkeys(["UH", "INTJ"], "discourse"),
    **dict.fromkeys(["S", "VP", "SBAR", "SINV", "SQ", "SBARQ"], "advcl"),
    **dict.fromkeys(["IN", "TO"], "case"),
    "CC": "cc",
    "PP": "obl",
    "PRN": "parataxis",
    "$": "compound",
    "POS": "case",
    "PRP$": "nmod:poss",
    "RP": "compound:prt",
    "PRT": "compound:prt",
}


def modifier_relation(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    """Return the relation of a child of an adjective, adverb, number or prepositional phrase to its head.

    Args:
        child: a child that is not the head.
        node: the phrase.
        pivot: the head child; None if the head word is outside the phrase.
        governor: the head word.
    """
    if node.category in PREPOSITIONAL:
        return _in_prepositional(child, node, pivot, governor)
    if node.category == "QP":
        return _in_quantity(child, governor)
    if child.category == "PRN":
        return parenthetical(child, governor)
    if child.category in NOMINAL or child.category in NOUN_TAGS:
        if child.head > governor.index:
            return "obl:unmarked"
        if is_adverbial_noun(child) or child.children:
            return "obl:unmarked"
        return "compound"
    if child.category in ("S", "VP", "SBAR") and child.head > governor.index:
        return _clause_of_adjective(child, governor)
    if child.category in ("IN", "TO", "RB") and node.category == "ADVP" and governor.category == "IN":
        return "advmod"
    return _TABLE.get(child.category, "dep")


def _clause_of_adjective(child: Phrase, governor: Phrase) -> str:
    if child.category == "SBAR":
        first = child.children[0]
        if first.is_word("that") or not (first.category == "IN" or first.category.startswith("WH")):
            return "ccomp" if is_finite(child) else "advcl"
        return "advcl"
    if governor.word in _RAISING:
        return "xcomp"
    return "advcl"


# Adjectives whose infinitive is an open complement (xcomp): *able to go*, *likely to rain*.
_RAISING = word_set(
    "able unable likely unlikely going ready willing unwilling supposed bound sure certain eager free "
    "prone reluctant hesitant apt happy glad about keen welcome impossible"
)


def _in_prepositional(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    if child.category == "UH":
        return "discourse"
    if (
        child.category in ("IN", "TO", "VBG", "RP", "VBN", "SYM", "CC", "JJ", "FW")
        and child.head < governor.index
    ):
        if child.category == "CC":
            return "cc"
        clausal = pivot is not None and (
            pivot.category in ("VP",) or (pivot.category in CLAUSES and not _is_nominal(pivot))
        )
        return "mark" if clausal else "case"
    if child.category in PREPOSITIONAL and child.head < governor.index:
        return "case"
    if child.category in PREPOSITIONAL:
        return "nmod" if governor.category in NOUN_TAGS else "obl"
    if child.category in NOMINAL and child.head < governor.index:
        return "obl:unmarked"
    if child.category in ("ADVP", "RB", "RBR", "RBS", "WRB"):
        return "advmod"
    return nominal_relation(child, node, pivot, governor)


def _is_nominal(clause: Phrase) -> bool:
    return clause.lexical.category in ("WP", "WRB", "WDT")


def _in_quantity(child: Phrase, governor: Phrase) -> str:
    if child.category in ("JJR", "RBR", "RB", "IN", "JJS", "RBS", "ADVP", "JJ", "TO"):
        return "advmod"
    if child.category in ("SYM", "IN", "TO") and child.word not in ("/", "+") and child.head > governor.index:
        return "case"
    if governor.category == "CD" and child.category == "CD":
        return "compound" if child.head < governor.index else range_relation(child)
    if child.category in ("CD", "QP"):
        return "nummod"
    if child.category == "$":
        return "compound"
    return nominal_relation(child, child, None, governor)
