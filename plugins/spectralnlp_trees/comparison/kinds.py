"""Types of errors, told from the nodes that a repair moves, adds or takes away.

Source: J. Kummerfeld, D. Hall, J. Curran and D. Klein (2012), Parser showdown at the Wall Street corral: an
empirical investigation of error types in parser output, section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from spectralnlp.trees import english_head
from spectralnlp_trees.comparison.workspace import Node, counted_label


class ErrorType(StrEnum):
    """Type of an error of a parser.

    Phrases with other labels than those of the Penn treebank have types of their own, plain strings, such as
    ``fcl attachment``.

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
# Nodes that structure noun phrases from within.
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
# Phrases of the Penn treebank whose attachment is no type of its own.
_REST = frozenset({"CONJP", "FRAG", "INTJ", "LST", "PRN", "UCP", "X"})


def attachment_of(label: str) -> str:
    """The type of an error of attachment; of a label that is not the Penn treebank's, after the label."""
    if label in _TYPE_OF:
        return _TYPE_OF[label]
    return ErrorType.OTHER if not label or label in _REST else f"{label} attachment"


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A node that is missing or extra, and what stands around it.

    Attributes:
        label: its label.
        children: below it.
        parent: above it.
        before, after: its sisters on the left and on the right, the nearest one each; see `sister_before`.
        alone: whether it is, or would be, the only child of its parent.
        is_head: whether it is, or would be, the head of its parent.
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
        """Surroundings of a node over some children of its parent, ``last`` exclusive."""
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
        """Surroundings of a node of the tree."""
        assert node.parent is not None  # a root is neither missing nor extra
        place = node.place
        return replace(cls.of_range(node.label, node.parent, place, place + 1), children=node.children)


def sister_before(sisters: Sequence[Node], place: int) -> Node | None:
    """The sister on the left; None also for a conjunction before which nothing stands: it joins nothing."""
    if not place or (place == 1 and sisters[0].label in _CONJUNCTIONS):
        return None
    return sisters[place - 1]


def type_of_move(group: Sequence[Node], before: Node | None, after: Node | None) -> str:
    """The type of an error that a move repairs.

    Args:
        group: the nodes that move.
        before, after: their sisters where they stand.
    """
    ends = [group[0], group[-1], *(each for each in (before, after) if each is not None)]
    if any(node.label in _CONJUNCTIONS for node in ends):
        return ErrorType.COORDINATION
    found = [attachment_of(_name(node)) for node in group]
    kinds = [*(kind for kind in _ATTACHED if kind in found), *found]
    return next((kind for kind in kinds if kind != ErrorType.OTHER), ErrorType.OTHER)


def _name(node: Node) -> str:
    """The label of a node that can name a type; empty for a word with a foreign tag."""
    return node.label if node.is_phrase or node.label in _TYPE_OF else ""


def type_of_node(there: Surroundings) -> str:
    """The type of an error that a node more, or one less, repairs."""
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
    """The noun phrase whose inner structure a node belongs to; None where it does not.

    It is a node that only structures noun phrases, or a noun phrase of words, within a noun phrase.
    """
    flat = all(not each.is_phrase or each.label in _WITHIN_NP for each in there.children)
    nominal = there.label in _WITHIN_NP or (there.label in _NOMINAL and flat)
    return there.parent if nominal and not there.is_head and there.parent.label in _NOMINAL else None


def _attached(there: Surroundings) -> str:
    """The label of what is attached at the wrong place, if a node more or less is all there is to it."""
    labels = [child.label for child in there.children]
    head = english_head(there.label, labels)
    outermost = there.children[0] if head == len(labels) - 1 else there.children[-1]
    same = counted_label(there.label)
    if there.children[head].is_phrase and counted_label(labels[head]) == same:
        return _name(outermost)
    if there.is_head and counted_label(there.parent.label) == same:
        beside = there.after or there.before
        return _name(outermost if beside is None else beside)
    kind = _TYPE_OF.get(there.label)
    return there.label if kind is None or kind in _ALONE else ""


# Phrases whose missing or extra node is itself an error of attachment: nothing else tells of it.
_ALONE = frozenset({ErrorType.PP_ATTACHMENT, ErrorType.MODIFIER_ATTACHMENT, ErrorType.VP_ATTACHMENT})
