"""Give a plain tree the functions and empty elements of the annotated tree that it was made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from spectralnlp.errors import InputError
from spectralnlp.trees.transforms import ROOT_LABELS, clean, is_empty
from spectralnlp.trees.tree import Tree, category


@dataclass(eq=False)
class _Node:
    """A node with the range of its words, of which empty elements are none.

    Attributes:
        tree: the node.
        start, end: range of its words.
        below: its children that have words.
        empty: its other children, each with the number of words before it.
    """

    tree: Tree
    start: int
    end: int
    below: list[_Node] = field(default_factory=list)
    empty: list[tuple[int, Tree]] = field(default_factory=list)

    def nodes(self) -> Iterator[_Node]:
        """Yield this node and all nodes with words below it, parents first."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.below))


def with_annotation(tree: Tree, annotated: Tree) -> Tree:
    """Return a plain tree with what `clean` has removed from an annotated tree over the same words.

    Phrases that are in both trees become those of the annotated tree. Others get the functions of a phrase
    over the same words with the same category, and its empty elements. Empty elements of a phrase that is no
    more go to the smallest phrase around it.

    Args:
        tree: a tree as `clean` returns it, perhaps corrected.
        annotated: the tree before it was cleaned.

    Raises:
        InputError: the trees have other words.

    Examples:
        >>> from spectralnlp.trees import read_brackets, with_annotation
        >>> text = "(S (NP-SBJ (NNS Gulls)) (VP (VBP are) (NP (-NONE- *T*)) (NP-PRD (JJ noisy))))"
        >>> mended, annotated = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP are) (ADJP (JJ noisy))))", text])
        >>> print(with_annotation(mended, annotated))
        (S (NP-SBJ (NNS Gulls)) (VP (VBP are) (NP (-NONE- *T*)) (ADJP (JJ noisy))))
    """
    plain, full = _measured(tree), _measured(annotated)
    if [each.tree.word for each in plain.nodes() if not each.below] != [
        each.tree.word for each in full.nodes() if not each.below
    ]:
        raise InputError("the trees have other words", hint="give a tree and the one that it was made from")
    merged = _merged(plain, full)
    is_wrapped = annotated.label in ROOT_LABELS and tree.label not in ROOT_LABELS
    if is_wrapped and merged.label not in ROOT_LABELS:
        return Tree(annotated.label, [merged])
    return merged


def _merged(plain: _Node, full: _Node) -> Tree:
    over: dict[tuple[int, int], list[_Node]] = defaultdict(list)
    for node in full.nodes():
        over[node.start, node.end].append(node)
    kept: dict[
        _Node, Tree
    ] = {}  # phrases of the plain tree that are in the annotated one, and their originals
    used: set[_Node] = set()
    labels: dict[_Node, str] = {}
    todo, changed = [plain], list[_Node]()
    while todo:
        node = todo.pop()
        there = [each for each in over[node.start, node.end] if each not in used]
        same = next((each for each in there if clean(each.tree) == node.tree), None)
        if same is not None:
            kept[node] = same.tree
            used.update(same.nodes())
            continue
        like = next((each for each in there if category(each.tree.label) == node.tree.label), None)
        if like is not None:
            labels[node] = like.tree.label
            used.add(like)
            node.empty += like.empty
        changed.append(node)
        todo.extend(reversed(node.below))
    for node in full.nodes():
        if node not in used and node.empty and changed:
            around = [each for each in changed if each.start <= node.start and node.end <= each.end]
            around[-1].empty += node.empty
    for node in reversed(changed):  # children first
        parts = [(place, 0, each) for place, each in node.empty]
        parts += [(each.start, 1, kept[each]) for each in node.below]
        children = [part for _, _, part in sorted(parts, key=lambda part: part[:2])]
        kept[node] = Tree(labels.get(node, node.tree.label), children, node.tree.word)
    return kept[plain]


def _measured(tree: Tree) -> _Node:
    """Return the nodes of a tree with words, with their ranges."""
    n_words: dict[int, int] = {}
    for each in tree.postorder():
        own = int(each.word is not None and not is_empty(each))
        n_words[id(each)] = own + sum(n_words[id(child)] for child in each.children)
    root = _Node(tree, 0, n_words[id(tree)])
    todo = [root]
    while todo:
        node = todo.pop()
        place = node.start
        for child in node.tree.children:
            size = n_words[id(child)]
            if size:
                node.below.append(_Node(child, place, place + size))
            else:
                node.empty.append((place, child))
            place += size
        todo.extend(node.below)
    return root
