"""Working copy of a tree for conversion to dependencies: nodes with links to parent and head word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from spectralnlp.trees import Tree
from spectralnlp_trees.dependencies.words import PUNCTUATION, penn_tag

_NO_FUNCTIONS: frozenset[str] = frozenset()


class Phrase:
    """Node of the working copy of a tree: a phrase, or a preterminal with its word.

    Args:
        category: first part of a phrase's label, ``NP`` for ``NP-SBJ-1``, ``ADVP`` for ``ADVP|PRT``; or the
            tag of a preterminal.
        functions: function tags of the label: ``SBJ`` for ``NP-SBJ-1``.
        word: the word of a preterminal, in lower case; empty for phrases.
        index: index of the word in the sentence; -1 for phrases.
        children: children from left to right.

    Attributes:
        parent: the parent; None for the root.
        place: position among the children of the parent, from 0.
        first, last: the leftmost and the rightmost preterminal.
        pivot: the head child; None for a preterminal, or if the head word is outside the phrase.
        head: index of the head word; -1 until heads are found.
        lexical: preterminal of the head word; the phrase itself until heads are found.
        groups: in a coordination, the children that belong to each conjunct.
    """

    __slots__ = (
        "category",
        "children",
        "first",
        "functions",
        "groups",
        "head",
        "index",
        "last",
        "lexical",
        "parent",
        "pivot",
        "place",
        "word",
    )

    def __init__(
        self, category: str, functions: frozenset[str], word: str, index: int, children: list[Phrase]
    ) -> None:
        self.category = category
        self.functions = functions
        self.word = word
        self.index = index
        self.children = children
        self.parent: Phrase | None = None
        self.place = 0
        self.pivot: Phrase | None = None
        self.head = index
        self.lexical = self
        self.groups: list[list[Phrase]] = []
        self.first: Phrase = children[0].first if children else self
        self.last: Phrase = children[-1].last if children else self
        for place, child in enumerate(children):
            child.parent = self
            child.place = place

    @property
    def is_punctuation(self) -> bool:
        """Whether the node is a punctuation mark, or a unary chain over one."""
        node = self
        while not node.word and len(node.children) == 1:
            node = node.children[0]
        return node.category in PUNCTUATION

    def is_word(self, *words: str) -> bool:
        """Return whether the node, or the single word below a unary chain, is one of ``words``."""
        node = self
        while not node.word and len(node.children) == 1:
            node = node.children[0]
        return node.word in words

    def word_text(self) -> str:
        """Words of the children that are preterminals, joined by spaces."""
        return " ".join(each.word for each in self.children if each.word)

    def before(self) -> Iterator[Phrase]:
        """Yield the siblings to the left, the nearest first."""
        if self.parent is not None:
            for place in range(self.place - 1, -1, -1):
                yield self.parent.children[place]

    def after(self) -> Iterator[Phrase]:
        """Yield the siblings to the right, the nearest first."""
        if self.parent is not None:
            for place in range(self.place + 1, len(self.parent.children)):
                yield self.parent.children[place]


def working_copy(tree: Tree) -> tuple[list[Phrase], list[Phrase]]:
    """Copy a tree without empty elements to linked nodes.

    Returns:
        All nodes from left to right, children before their parent; and the preterminals.
    """
    nodes: list[Phrase] = []
    words: list[Phrase] = []
    pending: list[Phrase] = []
    for node in tree.postorder():
        category, functions = label_parts(node.label)
        if node.word is not None:
            phrase = Phrase(penn_tag(node.label), _NO_FUNCTIONS, node.word.lower() or "_", len(words), [])
            words.append(phrase)
        else:
            first = len(pending) - len(node.children)
            phrase = Phrase(category, functions, "", -1, pending[first:])
            del pending[first:]
        pending.append(phrase)
        nodes.append(phrase)
    return nodes, words


@lru_cache(maxsize=4096)
def label_parts(label: str) -> tuple[str, frozenset[str]]:
    """Return the category of a label and its function tags, without indices.

    Examples:
        >>> from spectralnlp_trees.dependencies.phrases import label_parts
        >>> label_parts("NP-SBJ-1")
        ('NP', frozenset({'SBJ'}))
    """
    if label.startswith("-"):
        return label, _NO_FUNCTIONS
    category, *functions = label.replace("=", "-").split("-")
    return category.partition("|")[0], frozenset(each for each in functions if each and not each.isdigit())
