"""Find the conjuncts of a coordination among the children of a phrase.

The first conjunct is the head of the others; a conjunction depends on the conjunct after it
(https://universaldependencies.org/u/dep/conj.html).
"""

from __future__ import annotations

from collections.abc import Sequence

from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import (
    ADJECTIVAL,
    ADJECTIVE_TAGS,
    ADVERB_TAGS,
    ADVERBIAL,
    AUXILIARY_TAGS,
    CLAUSES,
    NOMINAL,
    NOMINAL_TAGS,
    NOUN_TAGS,
    PREPOSITIONAL,
    PUNCTUATION,
    VERB_TAGS,
)

CONJUNCTIONS = frozenset(["CC", "CONJP"])
_NOMINAL = NOMINAL | NOMINAL_TAGS
_ALIKE = (
    _NOMINAL,
    (CLAUSES - {"SBAR"}) | {"VP"} | VERB_TAGS,
    ADJECTIVAL | ADJECTIVE_TAGS | {"VBN", "VBG"},
    ADVERBIAL | ADVERB_TAGS,
    PREPOSITIONAL | {"IN", "TO"},
    frozenset(["CD", "QP"]),
    AUXILIARY_TAGS,
)


def conjunct_groups(node: Phrase) -> list[list[Phrase]]:
    """Group the children of a phrase by conjunct; return an empty list if nothing is coordinated.

    Punctuation and conjunctions are in no group.
    """
    children = node.children
    places = [i for i, each in enumerate(children) if is_conjunction(each)]
    if not places:
        return _plain_list(node)
    parts = [
        _conjunct_children(children[a + 1 : b])
        for a, b in zip([-1, *places], [*places, len(children)], strict=True)
    ]
    if not parts[0]:  # "And" at the beginning, "both … and"
        del parts[0]
    parts = [part for part in parts if part]
    if len(parts) < 2 or (node.category in NOMINAL and _joins_modifiers(parts)):
        return []
    if node.category in ("VP", "SQ") and _joins_auxiliaries(parts):
        return []
    first = children[: places[0]] if _conjunct_children(children[: places[0]]) else children[: places[1]]
    return [*_listed(first, parts[1]), *parts[1:]]


def is_conjunction(child: Phrase) -> bool:
    """Return whether a child is a conjunction: *and*, *as well as*, a slash, a plus or an ampersand."""
    return child.category in CONJUNCTIONS or (child.category == "SYM" and child.word in ("/", "+", "&"))


def _plain_list(node: Phrase) -> list[list[Phrase]]:
    """Find conjuncts joined by commas or colons only: at least three noun phrases, or two other phrases."""
    spoken = [each for each in node.children if not each.is_punctuation and each.category != "RB"]
    if (
        node.category in ("NP", "NX")
        and len(spoken) > 2
        and all(each.category in NOUN_TAGS for each in spoken)
    ):
        commas = sum(each.category == "," for each in node.children)
        return [[each] for each in spoken] if commas >= len(spoken) - 1 else []
    if len(spoken) < 2 or len({each.category for each in spoken}) > 1 or node.category != spoken[0].category:
        return []
    if len(spoken) < (3 if node.category in ("NP", "NX") else 2) or node.category in (
        "S",
        "SBAR",
        "PP",
        "FRAG",
    ):
        return []
    marks = [each.category in (",", ":") for each in node.children[1:-1] if each.is_punctuation]
    return [[each] for each in spoken] if sum(marks) >= len(spoken) - 1 else []


def _conjunct_children(children: Sequence[Phrase]) -> list[Phrase]:
    return [each for each in children if each.category not in PUNCTUATION and not is_conjunction(each)]


def _joins_modifiers(parts: Sequence[Sequence[Phrase]]) -> bool:
    """Return whether coordinated groups of children modify one noun: *red and green apples*."""
    before, after = parts[0], parts[1]
    left, right = before[-1], after[0]
    if left.category not in _NOMINAL:
        return any(each.category in _NOMINAL for each in after)
    more_nouns = len(after) > 1 and after[1].category in NOUN_TAGS
    singular = left.category in ("NN", "NNP") and right.category == left.category
    return more_nouns and singular


def _joins_auxiliaries(parts: Sequence[Sequence[Phrase]]) -> bool:
    """Return whether coordinated groups of children are auxiliaries of one verb: *can and will go*."""
    return len(parts[0]) == 1 and parts[0][0].category == "MD" and parts[1][0].category == "MD"


def _listed(children: Sequence[Phrase], after: Sequence[Phrase]) -> list[list[Phrase]]:
    """Return the earlier conjuncts of a list with commas: *a* and *b* in *a, b and c*.

    Args:
        children: children before the conjunction.
        after: children after it.
    """
    parts: list[list[Phrase]] = [[]]
    for each in children:
        if each.category in (",", ":"):
            parts.append([])
        elif each.category not in PUNCTUATION and not is_conjunction(each):
            parts[-1].append(each)
    groups: list[list[Phrase]] = []
    for part in filter(None, parts):
        if groups and not are_alike(part[0], groups[0][-1]) and not are_alike(part[-1], groups[0][-1]):
            groups[-1] += part
        elif groups and all(each.category in ADVERBIAL or each.category in PREPOSITIONAL for each in part):
            if are_alike(part[0], after[-1]):
                groups.append(part)
            else:
                groups[-1] += part
        elif (groups and not any(are_alike(each, after[-1]) for each in part)) or (
            groups and not any(are_alike(each, after[-1]) for each in groups[-1])
        ):
            groups[-1] += part
        else:
            groups.append(part)
    return groups


def are_alike(a: Phrase, b: Phrase) -> bool:
    """Return whether two phrases have categories that are usually coordinated with each other."""
    return a.category == b.category or any(a.category in kind and b.category in kind for kind in _ALIKE)


def joined_modifiers(node: Phrase) -> list[tuple[Phrase, Phrase, Phrase]]:
    """Return triples (conjunct, conjunction, conjunct) of coordinated modifiers: *red and green* apples."""
    children = node.children
    pairs = []
    for place, each in enumerate(children):
        if is_conjunction(each) and 0 < place < len(children) - 1:
            left, right = children[place - 1], children[place + 1]
            if not (left.is_punctuation or right.is_punctuation) and left is not node.pivot:
                pairs.append((left, each, right))
    return pairs
