"""Find the errors of a tree: the sequence of repairs that turns it into the gold tree, each with a type.

Source: Kummerfeld et al. (2012), section 3 (cited in `spectralnlp_trees.comparison.kinds`). The search is
greedy: it makes the repair that corrects the most brackets until none is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from spectralnlp.display import one_line
from spectralnlp.trees import Tree
from spectralnlp_trees.comparison.kinds import (
    ErrorType,
    Surroundings,
    np_of,
    sister_before,
    type_of_move,
    type_of_node,
)
from spectralnlp_trees.comparison.moves import Move, find_moves, make_move
from spectralnlp_trees.comparison.workspace import (
    Bracket,
    Node,
    Workspace,
    counted_label,
    in_order,
    phrases_of,
    workspace_of,
)

# Trees beyond either limit are not analysed; they have one error. The limits are for the number of wrong
# brackets, and for the number of wrong brackets times the number of brackets.
MAX_WRONG = 500
MAX_WORK = 2_000_000
# A new node is inserted at most this many levels below the top of a unary chain.
_LONGEST_CHAIN = 20

Change = Literal["move", "relabel", "add", "remove", "reorder", "replace"]


@dataclass(frozen=True)
class Repair:
    """One change of a tree on the way to the gold tree.

    Attributes:
        change: kind of the change: ``move`` nodes; ``relabel``, ``add`` or ``remove`` a node; ``reorder``
            the labels of a unary chain, which corrects no bracket; or ``replace`` a tree that has too many
            wrong brackets to be analysed.
        labels: labels of the nodes that are changed.
        start, end: range of their words, ``end`` exclusive; punctuation is not counted.
        fixed: number of brackets that the change corrects, minus the number that it makes wrong.
        source, target: for ``move``, labels of the old and the new parent; for ``relabel`` and ``reorder``,
            the old and the new labels; otherwise empty.

    Examples:
        >>> from spectralnlp_trees import Repair, find_errors
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> (error,) = find_errors(*read_brackets(brackets)).errors
        >>> repair: Repair = error.repairs[0]
        >>> repair.change, repair.source, repair.target, repair.fixed
        ('relabel', 'NP', 'VP', 2)
    """

    change: Change
    labels: tuple[str, ...]
    start: int
    end: int
    fixed: int
    source: str = ""
    target: str = ""

    __repr__ = one_line

    def describe(self, words: Sequence[str]) -> str:
        """Describe the change in English.

        Args:
            words: words of the sentence without punctuation.
        """
        text = shortened(words[self.start : self.end])
        labels = " ".join(self.labels)
        match self.change:
            case "move":
                other = f"{self.target}, not under {self.source}"
                return f"{labels} “{text}” belongs under " + (
                    other if self.target != self.source else f"another {self.target}"
                )
            case "relabel" | "reorder":
                return f"{self.source} “{text}” should be {self.target}"
            case "add":
                return f"{labels} “{text}” is missing"
            case "remove":
                return f"{labels} “{text}” should not be there"
            case "replace":
                return f"“{text}” has too many wrong brackets to analyse"


@dataclass(frozen=True)
class TreeError:
    """Error of a parser's tree: its type and the changes that repair it.

    Attributes:
        type: an `ErrorType`, or another string for labels that the Penn treebank lacks.
        repairs: changes that repair the error; several only for the internal structure of a noun phrase.

    Examples:
        >>> from spectralnlp_trees import TreeError, find_errors
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> error: TreeError = find_errors(*read_brackets(brackets)).errors[0]
        >>> str(error.type), error.fixed
        ('different label', 2)
    """

    type: str
    repairs: tuple[Repair, ...]

    __repr__ = one_line

    @property
    def fixed(self) -> int:
        """Number of wrong brackets that the repairs of this error correct."""
        return sum(each.fixed for each in self.repairs)


@dataclass(frozen=True)
class TreeErrors:
    """All errors of a parser's tree, with its missing and extra brackets.

    Attributes:
        words: words of the sentence without punctuation.
        errors: errors in the order in which they are repaired.
        missing: brackets of the gold tree that the parser's tree lacks.
        extra: brackets of the parser's tree that the gold tree lacks.
        repaired: the tree after all repairs, under a root ``TOP``: the gold tree without punctuation, traces
            and function tags.

    Examples:
        >>> from spectralnlp_trees import TreeErrors, find_errors
        >>> from spectralnlp.trees import read_brackets
        >>> brackets = ["(S (NP (NNS Gulls)) (VP (VBP fly)))", "(S (NP (NNS Gulls)) (NP (VBP fly)))"]
        >>> found: TreeErrors = find_errors(*read_brackets(brackets))
        >>> print(found.missing[0], found.repaired)
        Bracket(label='VP', start=1, end=2) (TOP (S (NP (NNS Gulls)) (VP (VBP fly))))
    """

    words: tuple[str, ...]
    errors: tuple[TreeError, ...]
    missing: tuple[Bracket, ...]
    extra: tuple[Bracket, ...]
    repaired: Tree

    __repr__ = one_line


def find_errors(gold: Tree, tree: Tree) -> TreeErrors | None:
    """Find the errors of a parser's tree: the changes that turn it step by step into the gold tree.

    Brackets are those of EVALB with the parameters of ``COLLINS.prm``: punctuation and function tags are
    ignored, and part-of-speech tags are not compared. Every missing or extra bracket is corrected by one of
    the errors' repairs.

    Args:
        gold: tree of the treebank.
        tree: tree of a parser.

    Returns:
        The errors; None if the trees do not have the same words, or have only punctuation.

    Examples:
        >>> from spectralnlp_trees import find_errors
        >>> from spectralnlp.trees import read_brackets
        >>> gold = "(S (NP (PRP I)) (VP (VBD saw) (NP (PRP him)) (PP (IN at) (NP (NN noon)))))"
        >>> tree = "(S (NP (PRP I)) (VP (VBD saw) (NP (NP (PRP him)) (PP (IN at) (NP (NN noon))))))"
        >>> found = find_errors(*read_brackets([gold, tree]))
        >>> for error in found.errors:
        ...     print(error.type, [repair.describe(found.words) for repair in error.repairs])
        ...
        PP attachment ['NP “him at noon” should not be there']
    """
    work = workspace_of(gold, tree)
    if work is None:
        return None
    missing, extra = in_order(work.wanted - work.have), in_order(work.have - work.wanted)
    return TreeErrors(
        words=tuple(work.words),
        errors=_Repairing(work, gold).run(),
        missing=tuple(missing),
        extra=tuple(extra),
        repaired=work.to_tree(),
    )


@dataclass(eq=False)
class _Repairing:
    """Repairer that changes a tree step by step until it equals the gold tree, and records the errors.

    Attributes:
        work: working copy of the tree.
        gold: the gold tree.
        recorded: type and repairs of each error so far.
        nouns: for the word range of a noun phrase, the index in ``recorded`` of the error that collects all
            repairs of its internal structure.
    """

    work: Workspace
    gold: Tree
    recorded: list[tuple[str, list[Repair]]] = field(default_factory=list)
    nouns: dict[tuple[int, int], int] = field(default_factory=dict)

    def run(self) -> tuple[TreeError, ...]:
        """Repair the tree step by step until it equals the gold tree, and return its errors."""
        n_wrong = self.work.n_wrong
        if n_wrong > MAX_WRONG or n_wrong * self.work.have.total() > MAX_WORK:
            return self._replace(n_wrong)
        while n_wrong:
            if not (self._move_or_relabel() or self._remove() or self._add()):
                raise AssertionError("no change mends a bracket")  # an extra one can always be removed
            n_wrong = self.work.n_wrong
        self._reorder()
        return tuple(TreeError(kind, tuple(repairs)) for kind, repairs in self.recorded)

    def _move_or_relabel(self) -> bool:
        """Make the move or relabelling that corrects the most brackets, at least two.

        Returns whether there is one. A relabelling corrects two brackets, and is preferred to a move that
        also corrects two.
        """
        moves = [move for move in find_moves(self.work) if move.gain >= 2]
        best = min(moves, key=lambda move: move.rank, default=None)
        if (best is None or best.gain == 2) and self._relabel():
            return True
        if best is None:
            return False
        self._move(best)
        return True

    def _relabel(self) -> bool:
        missing = {(each.start, each.end): each for each in reversed(self.work.missing())}
        for node in self.work.extra():
            other = missing.get((node.start, node.end))
            if other is None:
                continue
            before, old = node.bracket, node.label
            labels = self.work.gold_chains[node.start, node.end]
            node.label = next(label for label in labels if counted_label(label) == other.label)
            self.work.replace([before], [node.bracket])
            kind = ErrorType.DIFFERENT_LABEL
            self._record(kind, Repair("relabel", (old,), node.start, node.end, 2, old, node.label))
            return True
        return False

    def _move(self, move: Move) -> None:
        group, sisters = move.group, move.source.children
        before = sister_before(sisters, move.first)
        after = sisters[move.last] if move.last < len(sisters) else None
        kind = type_of_move(group, before, after)
        source = move.source.label
        labels = tuple(node.label for node in group)
        n_wrong = self.work.n_wrong
        make_move(self.work, move)
        assert group[0].parent is not None  # the root does not move
        repair = Repair(
            change="move",
            labels=labels,
            start=group[0].start,
            end=group[-1].end,
            fixed=n_wrong - self.work.n_wrong,
            source=source,
            target=group[0].parent.label,
        )
        self._record(kind, repair)

    def _remove(self) -> bool:
        """Remove the extra node over the fewest words, the leftmost on ties; return whether there was one."""
        extra = self.work.extra()
        if not extra:
            return False
        node = min(extra, key=lambda each: (each.end - each.start, each.start))
        there = Surroundings.of_node(node)
        kind, noun, place = type_of_node(there), np_of(there), node.place
        there.parent.children[place : place + 1] = node.children
        for child in node.children:
            child.parent = there.parent
        self.work.replace([node.bracket], [])
        self._record(kind, Repair("remove", (node.label,), node.start, node.end, 1), noun)
        return True

    def _add(self) -> bool:
        """Add the widest missing node that crosses no bracket, the leftmost on ties.

        Returns whether there was one.
        """
        for bracket in sorted(self.work.missing(), key=lambda each: each.start - each.end):
            group = self.work.group(bracket.start, bracket.end)
            if group is None:
                continue
            labels = self.work.gold_chains[bracket.start, bracket.end]
            label = next(each for each in labels if counted_label(each) == bracket.label)
            parent, first, last = _place_of(label, labels, *group)
            there = Surroundings.of_range(label, parent, first, last)
            node = Node(label, parent.children[first:last])
            node.parent = parent
            parent.children[first:last] = [node]
            node.find_span()
            self.work.replace([], [node.bracket])
            self._record(type_of_node(there), Repair("add", (label,), node.start, node.end, 1), np_of(there))
            return True
        return False

    def _reorder(self) -> None:
        """Reorder the labels of unary chains as in the gold tree: NP over QP becomes QP over NP.

        Each change is recorded as an error. Call this when no bracket is missing or extra.
        """
        chains: dict[tuple[int, int], list[Node]] = {}
        for node in phrases_of(self.work.root):
            chains.setdefault((node.start, node.end), []).append(node)
        for span, nodes in chains.items():
            current, wanted = [node.label for node in nodes], self.work.gold_chains[span]
            for node, label in zip(nodes, wanted, strict=True):
                node.label = label
            if [*map(counted_label, current)] != [*map(counted_label, wanted)]:
                source, target = " over ".join(current), " over ".join(wanted)
                self._record(ErrorType.UNARY, Repair("reorder", tuple(current), *span, 0, source, target))

    def _replace(self, n_wrong: int) -> tuple[TreeError, ...]:
        fresh = workspace_of(self.gold, self.gold)
        assert fresh is not None  # the gold tree has words that count, as it has a workspace
        self.work.root = fresh.root
        repair = Repair("replace", (), 0, len(self.work.leaves), n_wrong)
        return (TreeError(ErrorType.OTHER, (repair,)),)

    def _record(self, kind: str, repair: Repair, noun: Node | None = None) -> None:
        """Record a repair as an error of the tree, or add it to an error in the same noun phrase.

        Args:
            kind: type of the error.
            repair: the repair.
            noun: the noun phrase whose internal structure is repaired; None if there is none.
        """
        if kind is not ErrorType.NP_INTERNAL or noun is None:
            self.recorded.append((kind, [repair]))
            return
        place = self.nouns.setdefault((noun.start, noun.end), len(self.recorded))
        if place == len(self.recorded):
            self.recorded.append((kind, []))
        self.recorded[place][1].append(repair)


def _place_of(
    label: str, wanted: Sequence[str], parent: Node, first: int, last: int
) -> tuple[Node, int, int]:
    """Return where to add a missing node: its parent, and the children of this parent that it will dominate.

    If the tree has phrases over exactly the same words already, the node is added below the phrases whose
    labels are above the missing label in the gold tree.

    Args:
        label: label of the missing node.
        wanted: labels that the gold tree has over the words of the node, from the top down.
        parent: node of which some adjacent children cover exactly the words of the missing node.
        first, last: range of these children, ``last`` exclusive.

    Returns:
        The parent, and the range of indices of its children that the missing node will dominate.
    """
    before = set(wanted[: wanted.index(label)])
    for _ in range(_LONGEST_CHAIN):
        node = parent.children[first]
        if last - first > 1 or not node.is_phrase or node.label not in before:
            break
        parent, first, last = node, 0, len(node.children)
    return parent, first, last


# Maximum number of words shown of a phrase.
_MAX_WORDS = 8


def shortened(words: Sequence[str]) -> str:
    """Join words by spaces, with an ellipsis in place of the middle if there are more than eight."""
    if len(words) <= _MAX_WORDS:
        return " ".join(words)
    half = _MAX_WORDS // 2
    return " ".join([*words[:half], "…", *words[-half:]])
