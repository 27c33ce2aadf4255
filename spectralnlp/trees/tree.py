"""Constituency trees: nodes have a label and children, or are preterminals with a word.

Nothing here is recursive: unary chains a thousand deep and left-branching sentences of hundreds of tokens are
ordinary input.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from spectralnlp import registry
from spectralnlp.display import cut
from spectralnlp.errors import ConfigError, InputError
from spectralnlp.trees.heads import HeadRules, finder_of

if TYPE_CHECKING:
    import nltk


T = TypeVar("T")

_FUNCTIONS = re.compile(r"(?<!^)[-=].*", re.DOTALL)
_UNWRITABLE = re.compile(r"[()\s\0]", re.ASCII)
_ESCAPED = re.compile(r"\\([()])")
_AS_WRITTEN = {"(": "-LRB-", ")": "-RRB-"}  # other unwritable characters, such as blanks, become "_"


class Tree:
    """An ordered labelled tree over words; treat it as immutable.

    A node either has ``children`` (one or more trees) or, as a preterminal, a ``word``.

    Args:
        label: category, such as ``NP`` or ``NN``; may be empty (the outer bracket of a PTB file).
        children: subtrees from left to right; empty for a preterminal.
        word: the token under a preterminal; None for every other node.

    Examples:
        >>> from spectralnlp import Tree
        >>> tree = Tree.from_string("(S (NP (NNS Gulls)) (VP (VBP fly)))")
        >>> tree.label, tree.words(), tree.tags()
        ('S', ['Gulls', 'fly'], ['NNS', 'VBP'])
        >>> tree.children[0] == Tree("NP", [Tree("NNS", word="Gulls")])
        True
    """

    __slots__ = ("children", "label", "word")

    def __init__(self, label: str, children: Sequence[Tree] = (), word: str | None = None) -> None:
        if (word is None) == (not children):
            hint = "; Tree.from_string reads brackets" if label.startswith("(") else ""
            raise ValueError(f"a node has either children or a word: {label[:60]!r}{hint}")
        self.label = label
        self.children = tuple(children)
        self.word = word

    @property
    def is_preterminal(self) -> bool:
        """Whether this node is a part-of-speech tag over one word."""
        return self.word is not None

    def nodes(self) -> Iterator[Tree]:
        """Yield all nodes, parents before their children, from left to right."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def postorder(self) -> list[Tree]:
        """Return all nodes, children before their parents, from left to right."""
        order, stack = [], [self]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(node.children)
        order.reverse()
        return order

    def fold(self, combine: Callable[[Tree, list[T]], T]) -> T:
        """Compute a value for each node from the values of its children, and return the root's value.

        Args:
            combine: returns a node's value, given the node and the values of its children in order.
        """
        values: list[T] = []
        for node in self.postorder():
            first = len(values) - len(node.children)
            below, values[first:] = values[first:], []
            values.append(combine(node, below))
        return values[0]

    def preterminals(self) -> list[Tree]:
        """Return the preterminals, from left to right."""
        return [node for node in self.nodes() if node.word is not None]

    def words(self) -> list[str]:
        """Return the words, from left to right."""
        return [node.word for node in self.nodes() if node.word is not None]

    def tags(self) -> list[str]:
        """Return the tags (labels of preterminals), from left to right."""
        return [node.label for node in self.nodes() if node.word is not None]

    def spans(self) -> list[tuple[str, int, int]]:
        """Return (label, start, end) of every node except preterminals, parents first.

        ``start`` and ``end`` are indices of tokens; ``end`` is exclusive.
        """
        spans: list[tuple[str, int, int]] = []
        opened: list[tuple[Tree, int]] = [(self, -1)]
        position = 0
        while opened:
            node, index = opened.pop()
            if index >= 0:  # the second visit: all words below have been passed
                label, start, _ = spans[index]
                spans[index] = (label, start, position)
            elif node.word is not None:
                position += 1
            else:
                opened.append((node, len(spans)))
                spans.append((node.label, position, position))
                opened.extend((child, -1) for child in reversed(node.children))
        return spans

    def heads(self, rules: HeadRules = "english") -> list[int]:
        """Return the index of each node's head word, in the order of `nodes`.

        Args:
            rules: ``english`` (Collins' rules), ``neutral`` (any language), ``content``
                (English; content words as heads, as in Universal Dependencies), or a function that returns
                the index of the head child, given a phrase's label and its children's labels. Except for
                ``content``, heads that the treebank marks (`HeadedTree`) take precedence.

        Raises:
            ConfigError: there are no rules with that name.

        Examples:
            >>> from spectralnlp.trees import read_brackets
            >>> (tree,) = read_brackets(["(S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ late))))"])
            >>> tree.heads("english"), tree.heads("content")
            ([1, 0, 0, 1, 1, 2, 2], [2, 0, 0, 2, 1, 2, 2])
        """
        if rules == "content":
            content: list[int] = registry.tree_tools.get("dependencies").content_head_words(self)
            return content
        find_head = finder_of(rules)
        nodes = list(self.nodes())
        heads = [-1] * len(nodes)
        n_words = sum(node.word is not None for node in nodes)
        # From the last node to the first: the heads of a node's children are on top of the stack, the first
        # on top.
        stack: list[int] = []
        for number in range(len(nodes) - 1, -1, -1):
            node = nodes[number]
            if node.word is not None:
                n_words -= 1
                heads[number] = n_words
            else:
                below = [stack.pop() for _ in node.children]
                heads[number] = below[0]
                if isinstance(node, HeadedTree):
                    heads[number] = below[node.head]
                elif len(below) > 1:
                    labels = [
                        child.label if child.word is not None else category(child.label)
                        for child in node.children
                    ]
                    heads[number] = below[find_head(category(node.label), labels)]
            stack.append(heads[number])
        return heads

    def __str__(self) -> str:
        """Return the tree in one line of brackets that can be read back, ``(S (NP (PRP I)) (VP (VBP see)))``.

        Within tokens and labels, ``(`` and ``)`` are written ``-LRB-`` and ``-RRB-``, and ASCII blanks ``_``.
        """
        pieces: list[str] = []
        stack: list[Tree | None] = [self]
        while stack:
            node = stack.pop()
            if node is None:
                pieces.append(")")
            elif node.word is not None:
                word = writable(node.word) or "_"
                end = " )" if word.endswith("\\") else ")"  # NLTK reads "\\)" as an escaped bracket
                pieces.append(f" ({writable(node.label)} {word}{end}")
            else:
                pieces.append(f" ({writable(node.label)}")
                stack.append(None)
                stack.extend(reversed(node.children))
        return "".join(pieces)[1:]

    def __repr__(self) -> str:
        return cut(f"Tree.from_string({str(self)!r}") + ")"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        pairs = [(self, other)]
        while pairs:
            a, b = pairs.pop()
            if a is b:
                continue
            if a.label != b.label or a.word != b.word or len(a.children) != len(b.children):
                return False
            pairs.extend(zip(a.children, b.children, strict=True))
        return True

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[object, ...]:
        # Flat, because pickling a nested tree (between worker processes) would recurse.
        return _rebuild, ([(node.label, node.word, len(node.children)) for node in self.postorder()],)

    def to_svg(self) -> str:
        """Return a drawing of the tree as one ``<svg>`` element."""
        from spectralnlp.render.svg import draw_tree

        return draw_tree(self)

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def _repr_html_(self) -> str:
        from spectralnlp.render.svg import in_page

        return in_page(self.to_svg())

    def to_json(self) -> dict[str, Any]:
        """Return the tree as JSON values: for each node ``label``, and ``word`` or ``children``."""

        def build(node: Tree, children: list[dict[str, Any]]) -> dict[str, Any]:
            below = {"children": children} if node.word is None else {"word": node.word}
            return {"label": node.label, **below}

        return self.fold(build)

    def to_conllu(self, scheme: str | None = None, *, head_rules: HeadRules = "neutral") -> str:
        """Return the tree in CoNLL-U, with the brackets in a comment.

        The text ends in a line break; ``print`` adds the empty line that CoNLL-U needs after a sentence.

        Args:
            scheme: dependency scheme, ``ud``, ``stanford`` or ``heads``; see
                `spectralnlp_trees.to_dependencies`. None for words and tags alone.
            head_rules: head rules of the scheme ``heads``.

        Raises:
            ConfigError: there is no such scheme, or no such head rules.
        """
        if scheme is not None:
            convert = registry.tree_tools.get("dependencies").to_dependencies
            dependencies = convert(self, scheme, head_rules=head_rules)
            comments = {"text": " ".join(dependencies.words), "constituency": str(self)}
            text: str = dependencies.to_conllu(comments)
            return text
        from spectralnlp.render.tags import to_conllu
        from spectralnlp.text.tokens import Sentence

        sentence = Sentence.from_words(self.words())
        return to_conllu(sentence, self.tags(), comments={"constituency": str(self)})

    def to_nltk(self) -> nltk.Tree:
        """Return the tree as an ``nltk.Tree`` with strings as leaves; imports nltk.

        Raises:
            ConfigError: nltk is not installed.
        """
        try:
            from nltk import Tree as NltkTree
        except ImportError as error:
            raise ConfigError("nltk trees need nltk", hint="pip install nltk") from error

        def build(node: Tree, children: list[NltkTree]) -> NltkTree:
            return NltkTree(node.label, children if node.word is None else [node.word])

        return self.fold(build)

    @classmethod
    def from_string(cls, text: str) -> Tree:
        """Return the tree of a bracketed text, ``(S (NP (PRP I)) (VP (VBP see)))``.

        Args:
            text: one line or several; `spectralnlp.trees.read_brackets` reads any number of trees.

        Raises:
            InputError: brackets are unbalanced, a word has no tag, or there is not exactly one tree.

        Examples:
            >>> import spectralnlp
            >>> spectralnlp.Tree.from_string("(S (NP (NNS Gulls)) (VP (VBP fly)))").words()
            ['Gulls', 'fly']
        """
        trees: list[Tree] = list(registry.readers.get("brackets").trees(text.splitlines(), None, None))
        if len(trees) != 1:
            what = f"{len(trees)} trees where one is expected"
            raise InputError(what, hint="spectralnlp.trees.read_brackets reads any number")
        return trees[0]

    @classmethod
    def from_nltk(cls, tree: nltk.Tree) -> Tree:
        r"""Return the tree of an ``nltk.Tree`` whose leaves are strings, one under each preterminal.

        NLTK keeps the backslash of ``\(`` and ``\)`` in leaves; it is removed.

        Raises:
            ValueError: a leaf has no preterminal of its own.
        """
        order, stack = [], [tree]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(child for child in node if not isinstance(child, str))
        built: list[Tree] = []
        for node in reversed(order):
            leaves = [child for child in node if isinstance(child, str)]
            if leaves:
                if len(node) != 1:
                    raise ValueError(f"a leaf without a preterminal of its own under {node.label()!r}")
                built.append(cls(node.label(), word=unescaped(leaves[0])))
            else:
                first = len(built) - len(node)
                children, built[first:] = built[first:], []
                built.append(cls(node.label(), children))
        return built[0]


class HeadedTree(Tree):
    """A phrase whose head child is marked in the treebank, as by ``HD`` edges in TIGER.

    Functions that change a phrase, such as `clean`, return an ordinary `Tree`.

    Args:
        label, children: see `Tree`.
        head: index of the head among the children.
    """

    __slots__ = ("head",)

    def __init__(self, label: str, children: Sequence[Tree], head: int) -> None:
        super().__init__(label, children)
        self.head = head


def check_tree(value: Any) -> Tree:
    """Return a tree, after checking that it is one.

    Raises:
        InputError: it is something else, such as a text or a missing value.

    Examples:
        >>> from spectralnlp.trees import Tree, check_tree
        >>> check_tree(Tree.from_string("(NP (DT the) (NN cat))")).words()
        ['the', 'cat']
    """
    if not isinstance(value, Tree):
        what = f"{type(value).__name__} where a tree is expected"
        raise InputError(what, hint="read it with Tree.from_string, or leave it out")
    return value


def writable(text: str) -> str:
    """Return a token or label escaped for bracket files; see `Tree.__str__`."""
    if _UNWRITABLE.search(text) is None:
        return text
    return _UNWRITABLE.sub(lambda match: _AS_WRITTEN.get(match[0], "_"), text)


def unescaped(text: str) -> str:
    """Return a token of NLTK's brackets without the backslashes before brackets."""
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


@lru_cache(maxsize=4096)
def category(label: str) -> str:
    """Return a phrase label without function tags and indices: ``NP`` for ``NP-SBJ-1`` and ``NP=2``."""
    return label if label.startswith("-") else _FUNCTIONS.sub("", label)


def _rebuild(flat: list[tuple[str, str | None, int]]) -> Tree:
    built: list[Tree] = []
    for label, word, arity in flat:
        first = len(built) - arity
        children, built[first:] = built[first:], []
        built.append(Tree(label, children, word))
    return built[0]
