"""Rules for the content heads of English phrases other than clauses."""

from __future__ import annotations

from collections.abc import Container, Iterable

from spectralnlp_trees.dependencies.noun_groups import before_quotation, date_head, name_among, number_head
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import (
    ADJECTIVAL,
    ADJECTIVE_TAGS,
    ADVERB_TAGS,
    ADVERBIAL,
    CLAUSES,
    NOMINAL,
    NOUN_TAGS,
    PREPOSITIONAL,
    VERB_TAGS,
    word_set,
)

# Maximum levels of embedding and maximum children that the rules inspect. Real sentences have fewer; the
# limits keep the time linear in the size of any input.
DEPTH, WIDTH = 40, 400

_PHRASAL_NOUNS = NOUN_TAGS | frozenset(["NX", "NML", "NAC", "ADD"])


def first_of(children: Iterable[Phrase], categories: Container[str]) -> Phrase | None:
    """Return the first of some phrases whose category is in ``categories``; None if there is none."""
    return next((each for each in children if each.category in categories), None)


def noun_phrase(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of a noun phrase: its head noun, the first word of a name, or the day of a date."""
    if children[-1].category == "POS":
        children = children[:-1]
    core = _before_modifiers(children)
    core = before_quotation(node, core)
    if core[-1].category == "FW" and all(each.category == "FW" for each in core):
        return core[0]
    number = date_head(core) or number_head(core)
    if number is not None:
        return number
    name = name_among(core)
    if name:
        before = core[-len(name) - 1] if len(core) > len(name) else None
        return before if before is not None and before.category in ("NN", "NNS") else name[0]
    money = next((each for each in core if each.category == "$"), None)
    if money is not None and core[-1].category in ("CD", "QP", "$"):
        return money
    is_named = len(core) > 2 and core[0].category in ("DT", "PRP$") and core[-1].category == "NNP"
    if is_named and core[-2].category in ("NN", "NNS"):
        return core[-2]
    noun = next((each for each in reversed(core) if each.category in _PHRASAL_NOUNS), None)
    if noun is not None:
        return noun
    nominal = [each for each in core if each.category in NOMINAL and not _is_possessive(each)]
    if nominal:
        if len(nominal) > 1 and any(each.category == "HYPH" for each in node.children):
            return nominal[-1]
        return next((each for each in nominal if each.category != "QP"), nominal[0])
    for categories in _NOUN_LIKE:
        word = next((each for each in reversed(core) if each.category in categories), None)
        if word is not None:
            return word
    return core[-1] if core else children[0]


_NOUN_LIKE = (
    ("PRP", "WP", "EX", "FW"),
    ("$",),
    ("CD", "QP"),
    ("JJ", "JJR", "JJS", "ADJP", "VBG", "VBN"),
    ("PRP$", "DT", "WDT", "WP$"),
    ("SBAR", "S", "VP"),
    ("RB", "ADVP", "UH"),
    ("SYM", "X", "LS"),
)
_POSTMODIFIERS = word_set("PP SBAR VP S PRN WHPP FRAG RRC SQ")


def _before_modifiers(children: list[Phrase]) -> list[Phrase]:
    for place, each in enumerate(children):
        if place and each.category in _POSTMODIFIERS:
            return children[:place]
    return children


def _is_possessive(phrase: Phrase) -> bool:
    return phrase.last.category == "POS"


def prepositional(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of a prepositional phrase: the object, or the preposition if it has no object."""
    if children[0].category == "VBN" and children[0].word in ("based", "followed"):
        return children[0]
    preposition = next((i for i, each in enumerate(children[:-1]) if each.category in ("IN", "TO")), -1)
    if preposition > 0 and children[0].category in NOMINAL:
        children = children[preposition:]
    for categories in (NOMINAL | CLAUSES, ("VP", "ADJP", "UCP"), PREPOSITIONAL, NOUN_TAGS | {"CD", "PRP"}):
        head_child = first_of(children, categories)
        if head_child is not None and not (
            head_child is children[0] and first_of(children[1:], PREPOSITIONAL)
        ):
            return head_child
    place = next((i for i, each in enumerate(children) if each.category in ("IN", "TO", "VBG", "RP")), 0)
    after = [each for each in children[place + 1 :] if each.category in ("ADVP", "RB", "JJ", "DT", "WHNP")]
    return after[0] if after else children[place]


def adjectival(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of an adjective phrase: the adjective before its complements."""
    phrase = first_of(children, ADJECTIVAL)
    if phrase is not None and phrase is children[0]:
        return phrase
    core = _before_modifiers(children)
    if core[-1].category == "NN" and node.parent is not None and node.parent.category in NOMINAL:
        return core[-1]
    for categories in (ADJECTIVE_TAGS | {"VBN", "VBG"}, ADJECTIVAL, NOUN_TAGS | {"$", "CD", "QP", "NP"}):
        head_child = next((each for each in reversed(core) if each.category in categories), None)
        if head_child is not None:
            return head_child
    return core[-1]


def adverbial(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of an adverb phrase: the adverb before its complements."""
    phrase = first_of(children, ADVERBIAL)
    if phrase is not None and phrase is children[0]:
        return phrase
    if len(children) == 2 and children[0].word in ("at", "for", "in") and children[1].word:
        return children[1]
    if children[0].word in _LOCATING and children[-1].category == "PP" and len(children) == 2:
        return children[1]
    core = _before_modifiers(children)
    head_child = next(
        (each for each in reversed(core) if each.category in ADVERB_TAGS | {"IN", "ADVP"}), None
    )
    return head_child or core[-1]


_LOCATING = frozenset(["along", "prior", "together"])


def quantity(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of a quantity phrase.

    This is the first number of a compound number, range or time (`number_head`); else the last currency sign,
    noun or number, in this order of preference.
    """
    number = number_head(node.children)
    if number is not None:
        return number
    for categories in (("$",), ("NN", "NNS"), ("CD",)):
        head_child = next((each for each in reversed(children) if each.category in categories), None)
        if head_child is not None:
            return head_child
    return children[-1]


def conjunction(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of a multiword conjunction: its first word."""
    return children[0]


def interjection(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the head of an interjection phrase: its last child if all are interjections, else `any_head`."""
    return children[-1] if all(each.category == "UH" for each in children) else any_head(node, children)


def any_head(node: Phrase, children: list[Phrase]) -> Phrase:
    """Return the child that is most likely the head, whatever the category of the phrase."""
    for categories in _LIKELY:
        head_child = first_of(children, categories)
        if head_child is not None:
            return head_child
    return children[0]


_LIKELY = (
    ("S", "SINV", "SQ", "SBARQ"),
    ("VP", *VERB_TAGS),
    tuple(NOMINAL),
    ("SBAR", "FRAG"),
    tuple(NOUN_TAGS),
    ("ADJP", "PP", "ADVP", "CD", "JJ", "UCP", "X"),
)
