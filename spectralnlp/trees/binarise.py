r"""Convert trees to binary trees, and back.

In a binarised tree every node has two children, one child, or a word. Symbols of binarised trees are made of
treebank labels, in which ``\ + ^ @`` are escaped as ``\\ \p \c \a``:

    S+VP            a chain of unary nodes collapsed into one
    @NP>            an intermediate node of an NP whose last attached child is on the right; ``@NP<``: left
    NP^S^VP         an NP under S under VP
    @NP>^S@JJ^DT    an intermediate node of an NP under S, after DT and then JJ were attached
    NP@             NP as the tag of a word, in a treebank where NP is also a phrase (`tag_symbol`)

What follows the first ``^`` is annotation, which the inverse ignores. Markovisation follows D. Klein and
C. Manning (2003), Accurate unlexicalized parsing, section 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import chain
from typing import Any, Literal

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.storage import checked_value
from spectralnlp.trees.heads import HeadFinder, head_finder
from spectralnlp.trees.tree import Tree

Direction = Literal["head", "left", "right"]
Unaries = Literal["compress", "collapse"]

_ESCAPES = str.maketrans({"\\": "\\\\", "+": "\\p", "^": "\\c", "@": "\\a"})
_UNESCAPED = {"\\": "\\", "p": "+", "c": "^", "a": "@"}
_ESCAPED = re.compile(r"\\(.)")


# ---------------------------------------------------------------------------------------------------------
# Symbols


@lru_cache(maxsize=8192)
def symbol_of(*labels: str) -> str:
    """Return the symbol for a label, or for a unary chain that is collapsed into one node.

    Args:
        labels: the label, or the labels of the chain from the top down.
    """
    return "+".join(label.translate(_ESCAPES) for label in labels)


@lru_cache(maxsize=8192)
def labels_of(symbol: str) -> tuple[str, ...]:
    """Return the treebank labels in a symbol, from the top of its chain down; () for an intermediate node."""
    if is_intermediate(symbol):
        return ()
    base = split_annotation(symbol)[0].removesuffix(_OVER_WORD)
    return tuple(_ESCAPED.sub(_unescape, part) for part in base.split("+"))


def lowest_label(symbol: str) -> str:
    """Return the lowest treebank label in a symbol, such as the tag of a preterminal; "" if it has none.

    Examples:
        >>> from spectralnlp.trees import lowest_label
        >>> lowest_label("NP+NN")
        'NN'
    """
    return (labels_of(symbol) or ("",))[-1]


def _unescape(match: re.Match[str]) -> str:
    return _UNESCAPED.get(match[1], match[1])


def is_intermediate(symbol: str) -> bool:
    """Return whether a symbol is that of an intermediate node, which binarisation has added."""
    return symbol.startswith("@")


def split_annotation(symbol: str) -> tuple[str, str]:
    """Split a symbol at its first ``^`` into base and annotation: ``@NP>^S`` into ``@NP>`` and ``S``.

    The annotation is empty if the symbol has no ``^``.
    """
    base, _, annotation = symbol.partition("^")
    return base, annotation


# ---------------------------------------------------------------------------------------------------------
# Labels used both as tag and phrase: a node is a preterminal if it has a word, whatever its label


_OVER_WORD = "@"


@lru_cache(maxsize=8192)
def tag_symbol(symbol: str) -> str:
    """Return a symbol marked as a tag (``NP@``), for labels that are used both for tags and for phrases."""
    base, caret, annotation = symbol.partition("^")
    return f"{base}{_OVER_WORD}{caret}{annotation}"


def plain_symbol(symbol: str) -> str:
    """Return a symbol without the mark that `tag_symbol` adds."""
    base, caret, annotation = symbol.partition("^")
    return f"{base.removesuffix(_OVER_WORD)}{caret}{annotation}"


def ambiguous_labels(phrases: Iterable[str], tags: Iterable[str]) -> set[str]:
    """Return the symbols, without annotation, that are used both for preterminals and for other nodes.

    Args:
        phrases: symbols of nodes with children.
        tags: symbols of preterminals.
    """
    return {split_annotation(each)[0] for each in tags} & {split_annotation(each)[0] for each in phrases}


# ---------------------------------------------------------------------------------------------------------
# Binarisation


@dataclass(frozen=True)
class Binariser:
    """Converter of trees to binary trees; `restore` converts back, whatever the settings.

    Trees must have no traces and function tags (see `clean`).

    A phrase of several children is built outward from one of them: first its right siblings are attached,
    then its left siblings, the nearest first. In the result, a node has two children, or one child, or a
    word; an only child is never unary itself.

    Args:
        direction: the child to start from: the ``head``, the first (``left``) or the last (``right``).
        vertical: number of ancestors whose labels annotate a phrase and its intermediate nodes (v).
        horizontal: number of children attached last whose labels annotate an intermediate node (h); -1 for
            all.
        mark_direction: whether an intermediate symbol shows on which side its last child was attached.
        unaries: ``compress`` keeps the top and bottom of a unary chain as a unary node, or drops the chain if
            both are equal; ``collapse`` merges a chain into one label, down to the tag, so that no unary node
            remains.
        annotate_tags: whether tags are annotated too, with ``vertical`` ancestors (one if ``vertical`` is 0).
        heads: name of the head rules, ``english`` or ``neutral``.

    Raises:
        ConfigError: a setting has an invalid value.

    Examples:
        >>> from spectralnlp.trees import Binariser, read_brackets
        >>> (tree,) = read_brackets(["(NP (DT the) (JJ old) (NN keeper))"])
        >>> print(Binariser(direction="left").binarise(tree))
        (NP (@NP> (DT the) (JJ old)) (NN keeper))
    """

    direction: Direction = "head"
    vertical: int = 0
    horizontal: int = 0
    mark_direction: bool = True
    unaries: Unaries = "compress"
    annotate_tags: bool = False
    heads: str = "english"

    __repr__ = one_line

    def __post_init__(self) -> None:
        if self.direction not in ("head", "left", "right"):
            raise ConfigError(f"no direction is called {self.direction!r}", hint="use head, left or right")
        if self.unaries not in ("compress", "collapse"):
            raise ConfigError(f"unaries cannot be {self.unaries!r}", hint="use compress or collapse")
        if self.vertical < 0:
            raise ConfigError(f"vertical is {self.vertical}", hint="use 0 or more ancestors")
        if self.horizontal < -1:
            raise ConfigError(
                f"horizontal is {self.horizontal}", hint="use 0 or more siblings, or -1 for all"
            )
        self.find_head()

    def find_head(self) -> HeadFinder:
        """Return the function that finds the head of a phrase."""
        return head_finder(self.heads)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as JSON values, which `from_dict` reads."""
        return asdict(self)

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Binariser:
        """Return the binariser that `to_dict` described; missing settings have their defaults.

        Raises:
            ConfigError: a setting is unknown or has an invalid value.
        """
        try:
            binariser: Binariser = checked_value(cls, settings)
        except ValueError as error:
            raise ConfigError(f"settings of a binariser: {error}") from error
        return binariser

    def binarise(self, tree: Tree) -> Tree:
        """Return the binarised tree; see `Binariser`."""
        find_head = self.find_head()
        on_tags = max(1, self.vertical) if self.annotate_tags else 0
        built: list[Tree] = []
        todo: list[tuple[Tree, tuple[str, ...], bool]] = [(tree, (), False)]
        while todo:
            top, above, children_built = todo.pop()
            labels, bottom = _chain(top)
            kept = labels if self.unaries == "collapse" or _has_ends(labels, bottom) else labels[:1]
            below = (*reversed(kept), *above)[: max(self.vertical, 1)]
            if bottom.word is None and not children_built:
                todo.append((top, above, True))
                todo.extend((child, below, False) for child in reversed(bottom.children))
                continue
            wrapped = self.unaries == "compress" and len(kept) > 1
            symbol = symbol_of(kept[-1]) if wrapped else symbol_of(*kept)
            around = (kept[0], *above) if wrapped else above
            if bottom.word is not None:
                node = Tree(symbol + _annotation(around, on_tags), word=bottom.word)
            else:
                first = len(built) - len(bottom.children)
                children, built[first:] = built[first:], []
                start = self._start(bottom, find_head)
                siblings = [child.label for child in bottom.children] if self.horizontal else []
                annotation = _annotation(around, self.vertical)
                node = self._attach(symbol, annotation, children, start, siblings)
            if wrapped:
                node = Tree(symbol_of(kept[0]) + _annotation(above, self.vertical), (node,))
            built.append(node)
        return built[0]

    def _start(self, phrase: Tree, find_head: HeadFinder) -> int:
        children = phrase.children
        if self.direction == "left" or len(children) == 2:
            return 0
        if self.direction == "right":
            return len(children) - 1
        return find_head(phrase.label, [child.label for child in children])

    def _attach(
        self, symbol: str, annotation: str, children: Sequence[Tree], start: int, siblings: Sequence[str]
    ) -> Tree:
        """Return a binarised phrase, built outward from one of its children.

        Args:
            symbol: symbol of the phrase, without annotation.
            annotation: annotation of the phrase's symbols.
            children: the binarised children.
            start: index of the child to start from.
            siblings: symbols of the children, by which intermediate nodes are annotated.
        """
        node, attached = children[start], [start]
        for index in chain(range(start + 1, len(children)), range(start - 1, -1, -1)):
            on_right = index > start
            attached.append(index)
            name = symbol + annotation
            if len(attached) < len(children):
                mark = (">" if on_right else "<") if self.mark_direction else ""
                name = "@" + symbol + mark + annotation + self._memory(attached, siblings, annotation)
            node = Tree(name, (node, children[index]) if on_right else (children[index], node))
        return node

    def _memory(self, attached: Sequence[int], siblings: Sequence[str], annotation: str) -> str:
        if not self.horizontal:
            return ""
        last_first = attached[::-1] if self.horizontal < 0 else attached[: -self.horizontal - 1 : -1]
        memory = "@" + "^".join(symbol_of(siblings[index]) for index in last_first)
        return memory if annotation else "^" + memory


def _annotation(ancestors: Sequence[str], depth: int) -> str:
    return "".join("^" + symbol_of(label) for label in ancestors[:depth])


def _chain(top: Tree) -> tuple[tuple[str, ...], Tree]:
    """Return the labels of a maximal unary chain, from the top down, and its last node."""
    labels, node = [top.label], top
    while len(node.children) == 1:
        node = node.children[0]
        labels.append(node.label)
    return tuple(labels), node


def _has_ends(labels: Sequence[str], bottom: Tree) -> bool:
    """Return whether the top and bottom of a unary chain differ, so that compression keeps the chain.

    A tag differs from a phrase label of the same name.

    Args:
        labels: labels of the chain from the top down.
        bottom: last node of the chain.
    """
    return labels[0] != labels[-1] or (bottom.word is not None and len(labels) > 1)


def unary_chains(tree: Tree) -> Iterator[tuple[str, ...]]:
    """Yield the labels of each unary chain in a tree, from the top down, if its top and bottom differ.

    Compression keeps only the top and bottom labels of such a chain. Therefore estimators count the chains
    for each pair of top and bottom, and `restore` inserts the most frequent one.
    """
    todo = [tree]
    while todo:
        labels, bottom = _chain(todo.pop())
        if _has_ends(labels, bottom):
            yield labels
        todo.extend(reversed(bottom.children))


# ---------------------------------------------------------------------------------------------------------
# Inverse


def restore(tree: Tree, chains: Mapping[tuple[str, str], Sequence[str]] | None = None) -> Tree:
    """Return the original of a binarised tree, whatever the settings of its binarisation.

    Args:
        tree: a binary tree; it may have an added root such as ``TOP``.
        chains: the full chain, from the top down, for each pair (top, bottom) of a compressed chain; other
            pairs stay as they are.

    Examples:
        >>> from spectralnlp.trees import Binariser, read_brackets, restore
        >>> (tree,) = read_brackets(["(NP (DT the) (JJ old) (NN keeper))"])
        >>> restore(Binariser().binarise(tree)) == tree
        True
    """
    known = chains or {}

    def undo(node: Tree, below: list[list[Tree]]) -> list[Tree]:
        children = [child for part in below for child in part]
        labels = list(labels_of(node.label))
        if not labels:
            return children
        if node.word is not None:
            restored = Tree(labels.pop(), word=node.word)
        elif len(children) == 1:
            (restored,) = children
            labels[-1:] = known.get((labels[-1], restored.label), [*labels[-1:], restored.label])[:-1]
        else:
            restored = Tree(labels.pop(), children)
        for label in reversed(labels):
            restored = Tree(label, (restored,))
        return [restored]

    restored = tree.fold(undo)
    if len(restored) != 1:
        raise ValueError(f"the root is an intermediate: {tree.label!r}")
    return restored[0]


# ---------------------------------------------------------------------------------------------------------
# Heads of binary trees


def head_leaf_positions(tree: Tree, heads: str = "english") -> list[int]:
    """Return the position of each node's head word, for nodes in the order of `Tree.postorder`.

    Head rules are applied to the original phrases with all their children. An intermediate node has the head
    of its phrase if it dominates that head, as it always does if binarisation starts from the head. Otherwise
    its head is that of its child nearest to the phrase's head.

    Args:
        tree: a binary tree, annotated or not.
        heads: name of the head rules, ``english`` or ``neutral``.

    Returns:
        Token indices from 0, one for each node.
    """
    find_head = head_finder(heads)
    positions: list[int] = []
    finished: list[tuple[str, int]] = []  # label and head position of children whose phrase is pending
    widths: list[int] = []  # number of these under each visited node; 1 unless it is intermediate
    waiting: list[tuple[int, int, int]] = []  # intermediate nodes, each with its range in ``finished``
    n_words = 0
    for index, node in enumerate(tree.postorder()):
        width = sum(widths.pop() for _ in node.children)
        first = len(finished) - width
        labels = labels_of(node.label)
        if node.word is not None:
            position = n_words
            n_words += 1
        elif not labels:
            waiting.append((index, first, len(finished)))
            widths.append(width)
            positions.append(-1)  # set when its phrase is visited
            continue
        else:
            below = finished[first:]
            head = first + find_head(labels[-1], [label for label, _ in below]) if width > 1 else first
            while waiting and waiting[-1][1] >= first:
                intermediate, start, end = waiting.pop()
                positions[intermediate] = finished[min(max(head, start), end - 1)][1]
            position = finished[head][1]
            del finished[first:]
        finished.append((labels[0], position))
        widths.append(1)
        positions.append(position)
    return positions
