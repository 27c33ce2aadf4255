"""A working copy of a tree: nodes that know their parent, the parts of their label and their head word."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from spectralnlp.trees import Tree
from spectralnlp_trees.dependencies.words import PUNCTUATION

_NO_FUNCTIONS: frozenset[str] = frozenset()


class Phrase:
    """A node of a tree while its words are connected.

    Args:
        category: the label's first part: ``NP`` of ``NP-SBJ-1``, ``ADVP`` of ``ADVP|PRT``.
        functions: the other parts, ``SBJ``.
        word: the lower-case word of a part of speech; empty for phrases.
        index: of that word in the sentence; -1 for phrases.
        children: nodes below, from left to right.

    Attributes:
        parent: node above; None for the root.
        place: among the children of the parent, from 0.
        first, last: the leftmost and the rightmost word.
        pivot: the child that has the head word; None for a word, or where the head is further away.
        head: index of the head word; -1 until heads are found.
        lexical: the head word; a phrase itself until heads are found.
        groups: of a coordination, the children that belong to each conjunct.
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
        """Whether this is a punctuation mark, or a phrase of nothing else."""
        node = self
        while not node.word and len(node.children) == 1:
            node = node.children[0]
        return node.category in PUNCTUATION

    def is_word(self, *words: str) -> bool:
        """Whether this is one of these words, or a phrase of nothing but it."""
        node = self
        while not node.word and len(node.children) == 1:
            node = node.children[0]
        return node.word in words

    def word_text(self) -> str:
        """The words of the children that are words, blanks between."""
        return " ".join(each.word for each in self.children if each.word)

    def before(self) -> Iterator[Phrase]:
        """Siblings to the left, the nearest first."""
        if self.parent is not None:
            for place in range(self.place - 1, -1, -1):
                yield self.parent.children[place]

    def after(self) -> Iterator[Phrase]:
        """Siblings to the right, the nearest first."""
        if self.parent is not None:
            for place in range(self.place + 1, len(self.parent.children)):
                yield self.parent.children[place]


def working_copy(tree: Tree) -> tuple[list[Phrase], list[Phrase]]:
    """Copy a tree whose empty elements have been removed.

    Returns:
        All nodes, children before their parent, from left to right, the root last; and the words.
    """
    nodes: list[Phrase] = []
    words: list[Phrase] = []
    open_: list[Phrase] = []
    for node in tree.postorder():
        category, functions = label_parts(node.label)
        if node.word is not None:
            made = Phrase(node.label, _NO_FUNCTIONS, node.word.lower() or "_", len(words), [])
            words.append(made)
        else:
            first = len(open_) - len(node.children)
            made = Phrase(category, functions, "", -1, open_[first:])
            del open_[first:]
        open_.append(made)
        nodes.append(made)
    return nodes, words


@lru_cache(maxsize=4096)
def label_parts(label: str) -> tuple[str, frozenset[str]]:
    """The category of a label, and its function tags without indices.

    Examples:
        >>> from spectralnlp_trees.dependencies.phrases import label_parts
        >>> label_parts("NP-SBJ-1")
        ('NP', frozenset({'SBJ'}))
    """
    if label.startswith("-"):
        return label, _NO_FUNCTIONS
    category, *functions = label.replace("=", "-").split("-")
    return category.partition("|")[0], frozenset(each for each in functions if each and not each.isdigit())
