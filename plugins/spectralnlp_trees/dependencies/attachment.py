"""Attach the words of each phrase to its head word, and choose the dependency relations.

The rules follow the guidelines of Universal Dependencies 2 for English: the relation of a child to the head
of its phrase depends on the category of the phrase (clause, noun phrase, …) and of the child.
"""

from __future__ import annotations

from collections.abc import Iterable

from spectralnlp_trees.dependencies.arcs import Arcs
from spectralnlp_trees.dependencies.clauses import clause_relation, raised_subject
from spectralnlp_trees.dependencies.content_heads import head_among, is_abandoned
from spectralnlp_trees.dependencies.coordination import is_conjunction, joined_modifiers
from spectralnlp_trees.dependencies.modifiers import modifier_relation
from spectralnlp_trees.dependencies.nominals import nominal_relation
from spectralnlp_trees.dependencies.noun_groups import RANGE, group_before
from spectralnlp_trees.dependencies.phrase_heads import WIDTH
from spectralnlp_trees.dependencies.phrases import Phrase
from spectralnlp_trees.dependencies.words import ADJECTIVAL, ADVERBIAL, FOCUSING, NOMINAL, PREPOSITIONAL

_GROUPED = NOMINAL | ADJECTIVAL
_MODIFIED = ADJECTIVAL | ADVERBIAL | PREPOSITIONAL | {"CONJP", "QP"}


def attach_all(nodes: Iterable[Phrase], arcs: Arcs) -> None:
    """Attach the words of all phrases of a tree to their head words, with relations.

    Args:
        nodes: nodes of the tree, whose head words have been found.
        arcs: dependency tree to fill in.
    """
    for node in nodes:
        if len(node.children) > 1 or (node.children and node.pivot is None):
            if node.groups:
                _attach_conjuncts(node, arcs)
            else:
                _attach_children(node, arcs)


def _attach_children(node: Phrase, arcs: Arcs) -> None:
    if len(node.children) > WIDTH:
        for child in node.children:
            arcs.connect(child.head, node.head, "punct" if child.is_punctuation else "dep")
        return
    for child in node.children:
        if child is not node.pivot and child.head != node.head:
            _attach(child, node, node.pivot, node.head, arcs)
    if node.category in ("QP", "NP") and node.pivot is not None and node.pivot.category == "CD":
        _attach_range(node.pivot, arcs)
    if any(is_conjunction(each) for each in node.children[1:-1]):
        for left, conjunction, right in joined_modifiers(node):
            arcs.connect(right.head, left.head, "conj")
            arcs.connect(conjunction.head, right.head, "cc")


def _attach_range(first: Phrase, arcs: Arcs) -> None:
    """Attach the words of a number range: in *15 to 20*, *to* depends on *20*, which depends on *15*.

    Args:
        first: a number; nothing is done if it does not begin a range.
        arcs: dependency tree to fill in.
    """
    pair = [each for _, each in zip(range(2), first.after(), strict=False)]
    if len(pair) == 2 and pair[1].category == "CD" and (pair[0].category == "SYM" or pair[0].word in RANGE):
        arcs.connect(pair[0].head, pair[1].head, "case")
        arcs.connect(pair[1].head, first.head, "nmod")


def _attach(child: Phrase, node: Phrase, pivot: Phrase | None, head: int, arcs: Arcs) -> None:
    raised = raised_subject(child)
    if raised is not None:
        arcs.connect(raised.head, head, "obj")
    if child.category == "CONJP":
        _spread(child, head, arcs)
        return
    nearer = _nearer_word(child, node, pivot, head)
    if nearer is not None:
        arcs.connect(child.head, *nearer)
    else:
        arcs.connect(child.head, head, relation_of(child, node, pivot, arcs.words[head]))


def _nearer_word(child: Phrase, node: Phrase, pivot: Phrase | None, head: int) -> tuple[int, str] | None:
    """Return the word, other than the phrase's head word, that a child depends on, and the relation.

    In *high school student*, for example, *high* depends on *school*.

    Args:
        child: a child that is not the head.
        node: the phrase.
        pivot: the head child; None if the head word is outside the phrase.
        head: index of the head word of the phrase.

    Returns:
        The index of the word, and the relation; None if the child depends on the head word.
    """
    if pivot is not None and pivot.parent is node:
        if child.head < head and node.category in _GROUPED:
            group = group_before(child, pivot)
            if group is not None:
                return group[0].head, group[1]
        if child.category in ("NNP", "NNPS") and pivot.category in ("NN", "NNS") and child.head > head:
            return _later_name(child, node, pivot)
        if child.category == "CD" and pivot.category == "$":
            last = _last_number(child)
            return (head, "nummod") if last is child else (last.head, "compound")
    above = node.parent
    if child.category == "RP" and node.category == "PP" and above is not None and above.pivot is not node:
        return above.head, "compound:prt"  # "he was like, …"
    sibling = _modified_sibling(child, node)
    return None if sibling is None else (sibling.head, "advmod")


def _later_name(child: Phrase, node: Phrase, pivot: Phrase) -> tuple[int, str] | None:
    """Return the head of a name's later word: *John* for *Smith* in *the keeper John Smith*.

    Args:
        child: a proper noun after the noun.
        node: the noun phrase.
        pivot: the noun, which is the head child of the phrase.

    Returns:
        The index of the name's first word, and the relation; None if ``child`` is the first word, or if the
        phrase has no such name.
    """
    first = next(pivot.after())
    if first is child or first.category != "NNP" or node.children[0].category not in ("DT", "PRP$"):
        return None
    return first.head, "flat"


def _modified_sibling(child: Phrase, node: Phrase) -> Phrase | None:
    """Return the sibling that an adverb modifies: *into it* in *right into it*; None if there is none."""
    if child.category not in ("RB", "ADVP", "IN", "RBR", "CC"):
        return None
    following = next(child.after(), None)
    if following is None:
        return None
    if node.category in ("S", "SBAR", "FRAG", "X") and following.category in ("S", "SQ", "SBARQ", "SINV"):
        return following if child.category in ("RB", "ADVP") and _clause_precedes(child) else None
    if node.category in ("VP", "S", "FRAG") and following.category in ("PP", "NP", "SBAR"):
        if following.category == "NP" and ("SBJ" in following.functions or node.category == "S"):
            return None
        return (
            following
            if child.is_word(*FOCUSING) and child.category != "IN" and not child.is_word("not", "also")
            else None
        )
    if (
        node.category in NOMINAL
        and following.category in ("JJ", "CD", "QP", "JJR", "VBN", "RB")
        and following is not node.pivot
    ):
        if child.category not in ("RB", "RBR", "IN") or child.word in ("not", "just", "only", "even"):
            return None
        return _last_number(following) if following.category == "CD" else following
    return None


def _last_number(number: Phrase) -> Phrase:
    """Return the last of a series of numbers that begins with ``number``: *million* in *20 million*."""
    for each in number.after():
        if each.category != "CD":
            break
        number = each
    return number


def _clause_precedes(child: Phrase) -> bool:
    return any(each.category in ("S", "SQ", "SBARQ", "SINV") for each in child.before())


def relation_of(child: Phrase, node: Phrase, pivot: Phrase | None, governor: Phrase) -> str:
    """Return the dependency relation between a child of a phrase and the phrase's head word.

    Args:
        child: a child that is not the head.
        node: the phrase.
        pivot: the head child, or the head of the conjunct that the child belongs to; None if the head word
            is outside the phrase.
        governor: the head word.
    """
    if child.is_punctuation:
        return "punct"
    if child.head < governor.index and child is node.children[0] and is_abandoned(child):
        return "reparandum"
    if node.category in NOMINAL:
        return nominal_relation(child, node, pivot, governor)
    if node.category in _MODIFIED:
        return modifier_relation(child, node, pivot, governor)
    return clause_relation(child, node, pivot, governor)


def _attach_conjuncts(node: Phrase, arcs: Arcs) -> None:
    heads: list[Phrase] = []
    owners: dict[int, int] = {}
    for number, group in enumerate(node.groups):
        pivot = node.pivot if number == 0 and node.pivot is not None else head_among(node, group)
        heads.append(pivot)
        for each in group:
            owners[id(each)] = number
            if each is not pivot:
                _attach(each, node, pivot, pivot.head, arcs)
        if number:
            arcs.connect(pivot.head, node.head, "conj")
    following = len(heads) - 1
    for child in reversed(node.children):
        owner = owners.get(id(child))
        if owner is not None:
            following = owner
        elif is_conjunction(child):
            before = any(id(each) in owners for each in child.before())
            arcs.connect(
                child.head, heads[following].head, "cc" if before else _initial_relation(child, node)
            )
            if child.category == "CONJP" and child.word_text() not in (
                "as well as",
                "rather than",
                "instead of",
            ):
                _spread(child, heads[following].head, arcs)
        elif child.category == "RB":
            arcs.connect(child.head, heads[following].head, "advmod")
        else:
            last = not any(id(each) in owners for each in child.after())
            arcs.connect(child.head, node.head if last else heads[following].head, "punct")


def _initial_relation(conjunction: Phrase, node: Phrase) -> str:
    return "cc" if conjunction.is_word("and", "but", "or", "so", "nor", "&", "yet") else "cc:preconj"


def _spread(conjunction: Phrase, head: int, arcs: Arcs) -> None:
    """Attach each word of a multiword conjunction (*but also*, *not only*) to a conjunct's head.

    Args:
        conjunction: the conjunction.
        head: index of the head word of the conjunct.
        arcs: dependency tree to fill in.
    """
    for each in conjunction.children:
        arcs.connect(each.head, head, "cc" if each.category == "CC" else "advmod")
