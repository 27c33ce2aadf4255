"""Head rules, which find the head child of a phrase: Collins' rules for English, and neutral rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from spectralnlp.errors import ConfigError

HeadFinder = Callable[[str, Sequence[str]], int]

# M. Collins (1999), Head-driven statistical models for natural language parsing, appendix A: the direction
# of the search, and the labels to look for by priority. NML and NX follow NP.
_ENGLISH = {
    label: (direction, wanted.split())
    for label, direction, wanted in [
        ("ADJP", "left", "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB"),
        ("ADVP", "right", "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN"),
        ("CONJP", "right", "CC RB IN"),
        ("FRAG", "right", ""),
        ("INTJ", "left", ""),
        ("LST", "right", "LS :"),
        ("NAC", "left", "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW"),
        ("PP", "right", "IN TO VBG VBN RP FW"),
        ("PRN", "left", ""),
        ("PRT", "right", "RP"),
        ("QP", "left", "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
        ("RRC", "right", "VP NP ADVP ADJP PP"),
        ("S", "left", "TO IN VP S SBAR ADJP UCP NP"),
        ("SBAR", "left", "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG"),
        ("SBARQ", "left", "SQ S SINV SBARQ FRAG"),
        ("SINV", "left", "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
        ("SQ", "left", "VBZ VBD VBP VB MD VP SQ"),
        ("UCP", "right", ""),
        ("VP", "left", "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
        ("WHADJP", "left", "CC WRB JJ ADJP"),
        ("WHADVP", "right", "CC WRB"),
        ("WHNP", "left", "WDT WP WP$ WHADJP WHPP WHNP"),
        ("WHPP", "right", "IN TO FW"),
    ]
}
_NOMINAL = frozenset(["NP", "NML", "NX"])
_NOMINAL_SEARCHES = [
    ("right", frozenset(["NN", "NNP", "NNPS", "NNS", "NX", "NML", "POS", "JJR"])),
    ("left", frozenset(["NP"])),
    ("right", frozenset(["$", "ADJP", "PRN"])),
    ("right", frozenset(["CD"])),
    ("right", frozenset(["JJ", "JJS", "RB", "QP"])),
]
_PUNCTUATION = frozenset([",", ":", ".", "``", "''", "-LRB-", "-RRB-", "HYPH"])


def english_head(label: str, child_labels: Sequence[str]) -> int:
    """Return the head child of a phrase by Collins' rules, including those for noun phrases and coordination.

    Args:
        label: label of the phrase, without function tags; only the first part of ``ADVP|PRT`` counts.
        child_labels: labels of its children from left to right, one or more.

    Returns:
        An index into ``child_labels``.

    Examples:
        >>> from spectralnlp.trees import english_head
        >>> english_head("VP", ["VBZ", "NP", "PP"])
        0
    """
    return _english_head(label, tuple(child_labels))


@lru_cache(maxsize=65536)
def _english_head(label: str, children: tuple[str, ...]) -> int:
    category = label.partition("|")[0]
    head = _noun_head(children) if category in _NOMINAL else _table_head(category, children)
    # In a coordination X CC X, the first phrase is the head.
    while head >= 2 and children[head - 1] == "CC":
        before = head - 2
        while before > 0 and children[before] in _PUNCTUATION:
            before -= 1
        if children[before] in _PUNCTUATION:
            break
        head = before
    return head


def _noun_head(children: tuple[str, ...]) -> int:
    if children[-1] == "POS":
        return len(children) - 1
    for direction, wanted in _NOMINAL_SEARCHES:
        for index in _ordered(children, direction):
            if children[index] in wanted:
                return index
    return _first_word_like(children, "right")


def _table_head(category: str, children: tuple[str, ...]) -> int:
    direction, wanted = _ENGLISH.get(category, ("left", []))
    for label in wanted:
        for index in _ordered(children, direction):
            if children[index] == label:
                return index
    return _first_word_like(children, direction)


def _ordered(children: tuple[str, ...], direction: str) -> range:
    return range(len(children)) if direction == "left" else range(len(children) - 1, -1, -1)


def _first_word_like(children: tuple[str, ...], direction: str) -> int:
    order = _ordered(children, direction)
    return next((index for index in order if children[index] not in _PUNCTUATION), order[0])


def neutral_head(label: str, child_labels: Sequence[str]) -> int:
    """Return the head child of a phrase in any language, judged by the labels alone.

    The head is the leftmost child whose label has the longest common prefix with the phrase's label (NP over
    NNP, sn over sn). If no label shares the first letter, it is the leftmost child whose label begins with a
    letter, or else the first child.

    Args:
        label: label of the phrase.
        child_labels: labels of its children from left to right, one or more.

    Returns:
        An index into ``child_labels``.

    Examples:
        >>> from spectralnlp.trees import neutral_head
        >>> neutral_head("VP", ["V", "NP"])
        0
    """
    return _neutral_head(label, tuple(child_labels))


@lru_cache(maxsize=65536)
def _neutral_head(label: str, children: tuple[str, ...]) -> int:
    def likeness(index: int) -> tuple[int, bool, int]:
        child = children[index]
        return _shared_beginning(label, child), child[:1].isalpha(), -index

    return max(range(len(children)), key=likeness)


def _shared_beginning(a: str, b: str) -> int:
    shared = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        shared += 1
    return shared


_FINDERS: dict[str, HeadFinder] = {"english": english_head, "neutral": neutral_head}


def head_finder(name: str) -> HeadFinder:
    """Return the function that finds head children by the rules with the given name.

    Args:
        name: name of the rules, ``english`` or ``neutral``.

    Raises:
        ConfigError: there are no rules with that name.

    Examples:
        >>> from spectralnlp.trees import head_finder
        >>> head_finder("english")("NP", ["DT", "JJ", "NN"])
        2
    """
    try:
        return _FINDERS[name]
    except KeyError:
        raise ConfigError(f"no head rules are called {name!r}", hint="use english or neutral") from None


HeadRules = str | HeadFinder


def finder_of(rules: HeadRules) -> HeadFinder:
    """Return the function that finds head children, given the name of head rules or the function itself.

    Raises:
        ConfigError: there are no rules with that name.
    """
    return head_finder(rules) if isinstance(rules, str) else rules
