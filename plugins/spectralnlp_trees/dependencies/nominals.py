"""Rules for dependency relations within English noun phrases.

Source: https://universaldependencies.org/u/overview/nominal-syntax.html.
"""

from __future__ import annotations

from spectralnlp_trees.dependencies.content_heads import is_adverbial_noun
from spectralnlp_trees.dependencies.phrase_heads import DEPTH
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import (
    ADJECTIVE_TAGS,
    FINITE_TAGS,
    MONTHS,
    NOMINAL,
    NOUN_TAGS,
    PREDETERMINERS,
    PROPER_ADJECTIVES,
    REFLEXIVES,
    TITLES,
)

_BEFORE = {
    **dict.fromkeys(["DT", "WDT"], "det"),
    "PDT": "det:predet",
    **dict.fromkeys(["PRP$", "WP$"], "nmod:poss"),
    **dict.fromkeys(["JJ", "JJR", "JJS", "ADJP", "VBG", "VBN", "VBD", "WHADJP", "UCP"], "amod"),
    **dict.fromkeys(["CD", "QP"], "nummod"),
    **dict.fromkeys(["NN", "NNS", "NNP", "NNPS", "NX", "NML", "NAC", "FW", "VB", "VBP", "X"], "compound"),
    **dict.fromkeys(["RB", "RBR", "RBS", "ADVP", "WRB", "WHADVP"], "advmod"),
    **dict.fromkeys(["IN", "TO"], "case"),
    **dict.fromkeys(["UH", "INTJ"], "discourse"),
    **dict.fromkeys(["PRP", "EX"], "det"),
    "$": "compound",
    "CC": "cc",
    "POS": "case",
    "VP": "amod",
    "PP": "nmod",
    "S": "amod",
    "SBAR": "acl",
    "PRN": "parataxis",
    "LS": "dep",
    "SYM": "dep",
    "MD": "compound",
    "LST": "dep",
}
_AFTER = {
    **dict.fromkeys(["PP", "WHPP"], "nmod"),
    **dict.fromkeys(["VP", "S", "RRC"], "acl"),
    **dict.fromkeys(["ADJP", "JJ", "JJR", "JJS", "VBN", "VBG", "UCP"], "amod"),
    **dict.fromkeys(["RB", "RBR", "RBS", "ADVP"], "advmod"),
    **dict.fromkeys(["DT", "PDT", "PRP"], "det"),
    **dict.fromkeys(["UH", "INTJ"], "discourse"),
    **dict.fromkeys(["SINV", "SQ", "SBARQ", "FRAG"], "parataxis"),
    "POS": "case",
    "CC": "cc",
    "IN": "case",
    "$": "appos",
    "SYM": "dep",
    "LS": "dep",
    "FW": "flat",
    "QP": "appos",
}


def nominal_relation(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    """Return the dependency relation of a child of a noun phrase to the head noun.

    Args:
        child: a child that is not the head.
        node: the noun phrase.
        pivot: the head child; None if the head word is outside the phrase.
        governor: the head noun.
    """
    if child.head < governor.index:
        return _before(child, governor)
    return _after(child, node, governor)


def _before(child: Phrase, governor: Phrase) -> str:
    category = child.category
    if category in NOMINAL and category != "QP":
        return _nominal_before(child, governor)
    if category == "DT" and child.word in ("all", "both", "half") and governor.index - child.head > 1:
        return "det:predet" if _next_is_determiner(child) else "det"
    if category == "RB" and child.word in PREDETERMINERS and _next_is_determiner(child):
        return "det:predet"
    if category in NOUN_TAGS and governor.category == "NNP" and child.word in TITLES:
        return "nmod:desc"
    if category == "NNP" and governor.category == "CD" and child.word in MONTHS:
        return "compound"
    if category == "NNP" and child.word in PROPER_ADJECTIVES:
        return "amod"
    if category == "CD" and governor.category == "CD":
        return "compound"
    if category == "ADJP" and child.lexical.category in NOUN_TAGS:
        return "compound"
    if category == "ADVP" and child.lexical.category == "UH":
        return "discourse"
    if category == "CD" and len(child.word) == 4 and child.word.isdigit() and governor.category in NOUN_TAGS:
        return "compound"
    if category == "CC":
        return "cc:preconj" if child.word in ("both", "either", "neither") else "cc"
    return _BEFORE.get(category, "dep")


def _next_is_determiner(child: Phrase) -> bool:
    return next((each.category in ("DT", "PRP$", "CD", "NP") for each in child.after()), False)


def _nominal_before(child: Phrase, governor: Phrase) -> str:
    last = child.last
    if last.category == "POS" or (
        child.children and child.children[0].category == "PRP$" and len(child.children) == 1
    ):
        return "nmod:poss"
    if child.lexical.word in TITLES and governor.category == "NNP":
        return "nmod:desc"
    if governor.category == "CD" and child.lexical.word in MONTHS:
        return "compound"
    if child.lexical.category == "CD":
        return "nummod"
    if child.first.category in ("DT", "PRP$") or is_adverbial_noun(child):
        return "nmod:unmarked"
    return "compound"


def _after(child: Phrase, node: Phrase, governor: Phrase) -> str:
    category = child.category
    if category == "PRN":
        return parenthetical(child, governor)
    if category in ("PP", "WHPP"):
        return "acl" if has_clause(child) else "nmod"
    if category in NOMINAL or category in NOUN_TAGS or category == "CD":
        return _nominal_after(child, node, governor)
    if category == "SBAR":
        return _subordinate_after(child)
    if category in ("S", "VP"):
        return "parataxis" if is_finite(child) and category == "S" else "acl"
    if category in ADJECTIVE_TAGS and governor.category == "NNP":
        return "flat"
    return _AFTER.get(category, "dep")


def parenthetical(child: Phrase, governor: Phrase) -> str:
    """Return the relation of a phrase in parentheses or dashes to its head word, chosen by its content."""
    content = [each for each in child.children if not each.is_punctuation]
    category = content[0].category if content else "X"
    if len(content) == 1 and category in ("CD", "LS"):
        return (
            "dep"
            if child.first.word in ("[", "-lsb-", "-lrb-", "(") and governor.category != "NNP"
            else "nmod:unmarked"
        )
    if category in NOMINAL:
        word = content[0].lexical
        if word.category == "CD":
            return "nmod:unmarked" if len(word.word) == 4 else "dep"
        return "appos" if len(content) == 1 else "parataxis"
    if category in ("PP",):
        return "nmod" if governor.category in NOUN_TAGS else "obl"
    if category in ("SBAR",):
        return "acl:relcl" if governor.category in NOUN_TAGS else "advcl"
    if category in ("ADJP", "JJ"):
        return "amod"
    if category in ("ADVP", "RB"):
        return "advmod"
    if category in ("INTJ", "UH"):
        return "discourse"
    return "parataxis"


def _nominal_after(child: Phrase, node: Phrase, governor: Phrase) -> str:
    word = child.lexical
    if word.word in REFLEXIVES:
        return "nmod:unmarked"
    separated = any(each.is_punctuation for each in _between(child, governor))
    if word.word in ("a.m.", "p.m.", "am", "pm", "a.m", "p.m", "o'clock"):
        return "nmod:unmarked"
    if word.category == "CD" and governor.category == "CD" and not child.children:
        return range_relation(child)
    if word.category == "CD":
        if separated or governor.category == "CD" or len(word.word) == 4:
            return "nmod:unmarked"
        return "nummod" if child.category == "QP" else "flat"
    if is_adverbial_noun(child) or word.word in MONTHS:
        return "nmod:unmarked"
    if not child.children:
        if any(each.category == "``" for each in child.before()):
            return "appos"
        first = node.children[0].category
        return "appos" if first in ("DT", "PRP$") and governor.category in ("NN", "NNS") else "flat"
    if child.category == "NP" and not separated and governor.category in NOUN_TAGS and word.category == "NNP":
        return "appos"
    return "appos"


def has_clause(phrase: Phrase) -> bool:
    """Return whether the object of a preposition is a clause: *of seeing it*."""
    content = phrase
    for _ in range(DEPTH):
        if content.pivot is None or content.category not in ("PP", "WHPP"):
            break
        content = content.pivot
    if content.category == "VBN":
        return True
    if content is phrase.first or content.lexical.category in ("WP", "WRB", "WDT"):
        return False
    return content.category in ("S", "VP", "SBAR", "SQ", "SINV") or (
        content.category in ("VBG", "VBN", "ADJP") and content is not phrase
    )


def range_relation(number: Phrase) -> str:
    """Return the dependency relation of a number to the number before it.

    The two numbers may be a range, parts of one number, or a list.
    """
    before = next(number.before(), None)
    if len(number.word) == 4 and number.word.isdigit() and (before is None or before.category != "SYM"):
        return "nmod:unmarked"
    if before is None or before.category == "CD":
        return "flat"
    return "nmod" if before.category == "SYM" or before.word in ("to", "–") else "compound"


def _between(child: Phrase, governor: Phrase) -> list[Phrase]:
    between = []
    for each in child.before():
        if each.head <= governor.index:
            break
        between.append(each)
    return between


def _subordinate_after(child: Phrase) -> str:
    first = child.children[0]
    if first.category.startswith("WH") or first.first.category in ("WDT", "WP", "WP$", "WRB"):
        return "acl:relcl"
    if first.category in ("IN", "DT", "RB") or first.is_word("that", "whether", "if"):
        return "acl"
    if first.category in ("NP", "WDT", "WP") and len(child.children) > 1:
        return "acl:relcl"
    return "acl:relcl" if is_finite(child) else "acl"


def is_finite(clause: Phrase) -> bool:
    """Return whether the first verb of a clause is finite."""
    link: Phrase | None = clause
    for _ in range(DEPTH):
        if link is None or not link.children:
            break
        verb = next(
            (each for each in link.children if each.category in FINITE_TAGS or each.category == "TO"), None
        )
        if verb is not None:
            return verb.category != "TO"
        link = link.pivot or next(
            (each for each in link.children if each.category in ("S", "SQ", "VP")), None
        )
    return link is not None and link.category in FINITE_TAGS
