"""Types of parser errors, such as a wrong attachment, determined from the nodes that a repair changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from spectralnlp.trees import english_head
from spectralnlp_trees.comparison.workspace import Node, counted_label


class ErrorType(StrEnum):
    """Type of a parser error.

    Labels that the Penn treebank lacks have types that are plain strings, such as ``fcl attachment``.

    Examples:
        >>> from spectralnlp_trees import ErrorType, find_errors
        >>> from spectralnlp.trees import read_brackets
        >>> gold = "(S (NP (PRP I)) (VP (VBD saw) (NP (PRP him)) (PP (IN at) (NP (NN noon)))))"
        >>> tree = "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (PRP him)) (PP (IN at) (NP (NN noon))))))"
        >>> (error,) = find_errors(*read_brackets([gold, tree])).errors
        >>> error.type is ErrorType.PP_ATTACHMENT
        True
    """

    PP_ATTACHMENT = "PP attachment"
    NP_ATTACHMENT = "NP attachment"
    CLAUSE_ATTACHMENT = "clause attachment"
    MODIFIER_ATTACHMENT = "modifier attachment"
    VP_ATTACHMENT = "VP attachment"
    COORDINATION = "coordination"
    NP_INTERNAL = "NP-internal structure"
    UNARY = "unary"
    DIFFERENT_LABEL = "different label"
    SINGLE_WORD = "single-word phrase"
    OTHER = "other"


_CONJUNCTIONS = frozenset({"CC", "CONJP"})
_NOMINAL = frozenset({"NP", "NML", "NX", "NAC", "WHNP"})
# Labels of nodes that occur inside noun phrases only, as their internal structure.
_WITHIN_NP = frozenset({"ADJP", "NAC", "NML", "NX", "QP"})
_ATTACHED = {
    ErrorType.PP_ATTACHMENT: {"PP", "WHPP"},
    ErrorType.CLAUSE_ATTACHMENT: {"S", "SBAR", "SBARQ", "SINV", "SQ", "RRC"},
    ErrorType.NP_ATTACHMENT: {*_NOMINAL, "NN", "NNS", "NNP", "NNPS", "PRP", "CD"},
    ErrorType.VP_ATTACHMENT: {"VP", "VB", "VBD", "VBG", "VBN", "VBP", "VBZ"},
    ErrorType.MODIFIER_ATTACHMENT: {
        *("ADJP", "ADVP", "WHADJP", "WHADVP", "QP", "PRT"),
        *("JJ", "JJR", "JJS", "RB", "RBR", "RBS", "WRB"),
    },
}
_TYPE_OF = {label: kind for kind, labels in _ATTACHED.items() for label in labels}
# Phrases of the Penn treebank whose attachment errors count as `ErrorType.OTHER`.
_REST = frozenset({"CONJP", "FRAG", "INTJ", "LST", "PRN", "UCP", "X"})


def attachment_of(label: str) -> str:
    """Return the type of error in which a phrase with some label is attached wrongly.

    A label that the Penn treebank lacks has a type of its own: ``fcl attachment`` for ``fcl``.

    Args:
        label: label of the wrongly attached phrase or word; empty if unknown.
    """
    if label in _TYPE_OF:
        return _TYPE_OF[label]
    return ErrorType.OTHER if not label or label in _REST else f"{label} attachment"


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A missing or extra node with its parent, children and nearest sisters, which determine the error type.

    Attributes:
        label: label of the node.
        children: children of the node.
        parent: parent of the node.
        before, after: nearest sister on the left and on the right; None if there is none.
        alone: whether the node is, or would be, the only child of its parent.
        is_head: whether the node is, or would be, the head child of its parent.
    """

    label: str
    children: Sequence[Node]
    parent: Node
    before: Node | None
    after: Node | None
    alone: bool
    is_head: bool

    @classmethod
    def of_range(cls, label: str, parent: Node, first: int, last: int) -> Surroundings:
        """Return the surroundings of a missing node over some children of a parent.

        Args:
            label: label of the missing node.
            parent: parent of the missing node.
            first, last: range of the children that it would cover, ``last`` exclusive.
        """
        sisters = parent.children
        labels = [*(each.label for each in sisters[:first]), label, *(each.label for each in sisters[last:])]
        return cls(
            label=label,
            children=sisters[first:last],
            parent=parent,
            before=sister_before(sisters, first),
            after=sisters[last] if last < len(sisters) else None,
            alone=last - first == len(sisters),
            is_head=english_head(parent.label, labels) == first,
        )

    @classmethod
    def of_node(cls, node: Node) -> Surroundings:
        """Return the surroundings of a node that is in the tree but not in the gold tree."""
        assert node.parent is not None  # the root is never missing or extra
        place = node.place
        return replace(cls.of_range(node.label, node.parent, place, place + 1), children=node.children)


def sister_before(sisters: Sequence[Node], place: int) -> Node | None:
    """Return the left sister of a child; None if there is none or it is an initial conjunction.

    Args:
        sisters: children of a node.
        place: index of the child whose left sister is wanted.
    """
    if not place or (place == 1 and sisters[0].label in _CONJUNCTIONS):
        return None
    return sisters[place - 1]


def type_of_move(group: Sequence[Node], before: Node | None, after: Node | None) -> str:
    """Return the type of the error that a move repairs.

    Args:
        group: the nodes that move.
        before, after: left and right sister of the group before it is moved; None if there is none.
    """
    ends = [group[0], group[-1], *(each for each in (before, after) if each is not None)]
    if any(node.label in _CONJUNCTIONS for node in ends):
        return ErrorType.COORDINATION
    types = [attachment_of(_name(node)) for node in group]
    kinds = [*(kind for kind in _ATTACHED if kind in types), *types]
    return next((kind for kind in kinds if kind != ErrorType.OTHER), ErrorType.OTHER)


def _name(node: Node) -> str:
    """Return a node's label for naming an error; empty for a word whose tag has no type of error."""
    return node.label if node.is_phrase or node.label in _TYPE_OF else ""


def type_of_node(there: Surroundings) -> str:
    """Return the type of the error that adding or removing a node repairs.

    Args:
        there: the node with its parent, children and sisters.
    """
    (first, *more), above = there.children, there.parent
    has_root = above.parent is None
    if not more and not first.is_phrase and not (there.alone and not has_root):
        return ErrorType.SINGLE_WORD
    if not more or (there.alone and not has_root):
        return ErrorType.UNARY
    if np_of(there) is not None:
        return ErrorType.NP_INTERNAL
    around = [*there.children, *(each for each in (there.before, there.after) if each is not None)]
    if any(node.label in _CONJUNCTIONS for node in around):
        return ErrorType.COORDINATION
    return attachment_of(_attached(there))


def np_of(there: Surroundings) -> Node | None:
    """Return the noun phrase whose internal structure a missing or extra node belongs to, or None.

    This is the node's parent if the parent is a noun phrase, the node is not its head, and the node is a
    phrase such as QP, ADJP or NML, or a noun phrase that consists of words and such phrases.

    Args:
        there: the node with its parent, children and sisters.
    """
    flat = all(not each.is_phrase or each.label in _WITHIN_NP for each in there.children)
    nominal = there.label in _WITHIN_NP or (there.label in _NOMINAL and flat)
    return there.parent if nominal and not there.is_head and there.parent.label in _NOMINAL else None


def _attached(there: Surroundings) -> str:
    """Return the label of the phrase that a missing or extra node attaches wrongly; empty if unclear.

    An extra NP over NP and PP, for example, shows that the PP is attached wrongly.

    Args:
        there: the missing or extra node with its parent, children and sisters.
    """
    labels = [child.label for child in there.children]
    head = english_head(there.label, labels)
    outermost = there.children[0] if head == len(labels) - 1 else there.children[-1]
    same = counted_label(there.label)
    if there.children[head].is_phrase and counted_label(labels[head]) == same:
        return _name(outermost)
    if there.is_head and counted_label(there.parent.label) == same:
        sibling = there.after or there.before
        return _name(outermost if sibling is None else sibling)
    kind = _TYPE_OF.get(there.label)
    return there.label if kind is None or kind in _ALONE else ""


# Types of phrases for which a missing or extra node counts as an attachment error of that phrase.
_ALONE = frozenset({ErrorType.PP_ATTACHMENT, ErrorType.MODIFIER_ATTACHMENT, ErrorType.VP_ATTACHMENT})
