"""Analyse flat noun sequences: names, dates, number ranges, and compounds before the last noun."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from spectralnlp_trees.dependencies.names import GIVEN_NAMES
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import (
    ADJECTIVE_TAGS,
    COLLOCATIONS,
    MONTHS,
    NOUN_TAGS,
    ORGANISATIONS,
    PROPER_ADJECTIVES,
    PUNCTUATION,
    TITLES,
    word_set,
)

_PROPER = ("NNP", "NNPS")


def name_among(children: Sequence[Phrase]) -> list[Phrase]:
    """Return the words of a name at the end of a noun phrase, head first; an empty list if there is no name.

    Consecutive proper nouns are a name (`flat`), unless one of them is a noun for a kind of institution or
    place (*Durham University*, `compound`).
    """
    run: list[Phrase] = []
    for each in reversed(children):
        if each.category not in _PROPER and not (run and each.category == "FW"):
            break
        run.append(each)
    run.reverse()
    while run and run[0].word in TITLES and len(run) > 1:
        del run[0]
    if len(run) < 2 or any(each.word in MONTHS for each in run):
        return []
    if any(each.word in GIVEN_NAMES for each in run[:-1]) and run[-1].word not in ORGANISATIONS:
        return run
    if any(each.word in _PARTICLES for each in run[:-1]):
        return run
    if any(each.word in ORGANISATIONS or each.word.endswith(_COMMON_ENDINGS) for each in run):
        return []
    if run[0].word in PROPER_ADJECTIVES or run[-1].category == "NNPS" or _has_article(children, run):
        return []
    return run


# Particles and articles in names from other languages.
_PARTICLES = word_set("de da di du del der van von la le el al bin ibn sainte sauvignon notre los las")
# Endings of words that are rarely names of people.
_COMMON_ENDINGS = (
    "ing",
    "tion",
    "al",
    "ic",
    "ity",
    "ian",
    "ogy",
    "ish",
    "ment",
    "ism",
    "ics",
    "ive",
    "ous",
    "ers",
)


def _has_article(children: Sequence[Phrase], run: Sequence[Phrase]) -> bool:
    before = children[: len(children) - len(run)]
    return any(each.category == "DT" for each in before)


def date_head(children: Sequence[Phrase]) -> Phrase | None:
    """Return the day of a date (*October 6*, *6 October*), or None if the children are not a date."""
    words = [each for each in children if each.category in ("NNP", "CD", "JJ", "NN")]
    for a, b in itertools.pairwise(words):
        month, day = (a, b) if a.word in MONTHS else (b, a)
        if month.word in MONTHS and month.category == "NNP" and _is_day(day):
            return day
    return None


def before_quotation(node: Phrase, core: list[Phrase]) -> list[Phrase]:
    """Return the children of a noun phrase before a name in quotation marks: *the word* in *the word "pen"*.

    Args:
        node: the noun phrase.
        core: its children without punctuation.
    """
    for place, each in enumerate(node.children):
        if each.category == "``" and place and node.children[place - 1].category in ("NN", "NNS"):
            if node.children[place - 1].word in _NAMED:
                return [other for other in core if other.head < each.index]
            last = [other for other in node.children if other.category != "POS"][-1]
            if last.category in ("''", "``", ".", ",") or last.word in ('"', "'"):
                return [other for other in core if other.head < each.index]
    return core


# Words between two numbers that make the second depend on the first.
RANGE = frozenset(["to", "-", "–", "in", "through", "of"])
# Nouns that precede the name of their referent: *the word "pen"*, *the film "Jaws"*.
_NAMED = word_set("word term pseudonym phrase name title question song book film movie story article")


def number_head(children: Sequence[Phrase]) -> Phrase | None:
    """Return the first number of a compound number, range or time; None if the children are none of these.

    Examples: *forty - eight*, *15 to 20*, *10 a.m.*
    """
    for a, b in itertools.pairwise(children):
        if a.category == "CD" and b.word in ("a.m.", "p.m.", "am", "pm", "a.m", "p.m", "o'clock"):
            return a
    for a, b, c in zip(children, children[1:], children[2:], strict=False):
        if a.category == c.category == "CD" and (b.category in ("HYPH", "SYM") or b.word in RANGE):
            return a if c is children[-1] or children[-1].category in PUNCTUATION else None
    return None


def _is_day(word: Phrase) -> bool:
    digits = word.word.rstrip("stndrh")
    return digits.isdigit() and len(digits) <= 2


def group_before(child: Phrase, pivot: Phrase) -> tuple[Phrase, str] | None:
    """Return the word, other than the head noun, that a premodifier depends on, and the relation; or None.

    A premodifier depends on another word before the noun if both are joined by a hyphen, if both are proper
    nouns before a common noun (*United States television*), or if they are a pair in `COLLOCATIONS`
    (*high school student*). Otherwise it depends on the head noun, and None is returned.

    Args:
        child: the premodifier.
        pivot: the head noun.
    """
    siblings = child.parent.children if child.parent is not None else []
    place = child.place
    if place + 2 < len(siblings) and siblings[place + 1].category == "HYPH":
        return _hyphenated(child, siblings[place + 2], pivot)
    if child.category in _PROPER:
        return _proper(child, siblings, place, pivot)
    if place + 2 < len(siblings) and (child.word, siblings[place + 1].word) in COLLOCATIONS:
        other = siblings[place + 1]
        if other is not pivot and other.head < pivot.head:
            return other, "amod" if child.category in ADJECTIVE_TAGS else "compound"
    return None


def _hyphenated(child: Phrase, other: Phrase, pivot: Phrase) -> tuple[Phrase, str] | None:
    if other is pivot or other.is_punctuation or other.head >= pivot.head:
        return None
    if child.category in ADJECTIVE_TAGS:
        return other, "amod"
    if child.category == "CD":
        return other, "nummod" if other.category in NOUN_TAGS else "compound"
    return other, "advmod" if child.category.startswith("RB") else "compound"


def _proper(
    child: Phrase, siblings: Sequence[Phrase], place: int, pivot: Phrase
) -> tuple[Phrase, str] | None:
    end = place
    while end + 1 < len(siblings) and siblings[end + 1].category in _PROPER:
        end += 1
    last = siblings[end]
    if pivot in siblings[place : end + 1] or last.head > pivot.head:
        return None
    start = place
    while start and siblings[start - 1].category in _PROPER:
        start -= 1
    name = name_among(siblings[start : end + 1])
    if child in name:
        return (name[0], "flat") if child is not name[0] else None
    mixed = pivot.category in _PROPER and end + 1 < len(siblings) and siblings[end + 1].category in NOUN_TAGS
    if last is child or mixed:
        return None
    return last, "amod" if child.word in PROPER_ADJECTIVES else "compound"
