"""Sentences of treebanks with crossing branches, represented by the parent of each word and phrase.

Phrases may be discontinuous, so such a sentence cannot be written as brackets; `raising` converts it to a
tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spectralnlp.errors import InputError

VIRTUAL_ROOT = -1  # the parent of what hangs from nothing
_ROOT_LABELS = frozenset(["VROOT", "TOP", "ROOT"])


@dataclass(frozen=True)
class SentenceGraph:
    """Sentence whose phrases may be discontinuous.

    Its nodes are numbered: first the words from left to right, then the phrases.

    Args:
        words: the words.
        labels: label of each node: tags of words, categories of phrases.
        functions: function of each node, the label of its edge, such as ``HD`` or ``SB``; may be empty.
        parents: parent of each node: the index of a phrase, or `VIRTUAL_ROOT`.
        root: label of the virtual root; may be empty.
        empty: number of removed nodes that dominate no word.
    """

    words: list[str]
    labels: list[str]
    functions: list[str]
    parents: list[int]
    root: str = ""
    empty: int = 0


def children_of(parents: list[int]) -> list[list[int]]:
    """Return the children of each node; the last item is for the virtual root.

    Args:
        parents: parent of each node, as in `SentenceGraph`.
    """
    below: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for node, parent in enumerate(parents):
        below[parent].append(node)
    return below


@dataclass
class GraphBuilder:
    """Builder of a `SentenceGraph` from nodes in any order, which checks that they form a tree.

    Args:
        path: path of the file, for error messages.
        sentence: number of the sentence in the file, from 1.
        line: number of its first line.
    """

    path: str | Path | None
    sentence: int
    line: int
    lines: dict[str, int] = field(default_factory=dict)
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    phrases: dict[str, str] = field(default_factory=dict)
    above: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_word(self, name: str, word: str, tag: str, line: int) -> None:
        """Add the next word of the sentence.

        Args:
            name: identifier of the node, by which `hang` refers to it.
            word: the word.
            tag: part of speech of the word.
            line: line number, for messages.

        Raises:
            InputError: there is a node with this name already, or the word is empty.
        """
        if not word:
            raise self.bad("a word is missing", line, "give every token a form")
        self._note(name, line)
        self.words[name] = word, tag

    def add_phrase(self, name: str, label: str, line: int) -> None:
        """Add a phrase of the sentence.

        Args:
            name: identifier of the node, by which `hang` refers to it.
            label: category of the phrase.
            line: line number, for messages.

        Raises:
            InputError: there is a node with this name already.
        """
        self._note(name, line)
        self.phrases[name] = label

    def hang(self, name: str, parent: str, function: str, line: int) -> None:
        """Set the parent of a node; node and parent may be added later.

        Args:
            name: identifier of the node.
            parent: identifier of the parent.
            function: function of the node, such as ``SB``.
            line: line number, for messages.

        Raises:
            InputError: the node has a parent already.
        """
        if name in self.above:
            what = f"node {name} has two parents, {self.above[name][0]} and {parent}"
            raise self.bad(what, line, "give each node one parent; other relations are secondary edges")
        self.above[name] = parent, function

    def build(self, root: str) -> SentenceGraph:
        """Return the sentence, after checking that its nodes form a tree under the root.

        Args:
            root: identifier of the root: one of the nodes or, if no node has this identifier, a virtual
                root above all nodes. Words without a parent, such as punctuation in TigerXML, are children of
                the virtual root.

        Raises:
            InputError: there are no words; a phrase is empty, or is not under the root; a parent is missing,
                or is a word; or a node dominates itself.
        """
        if not self.words:
            raise self.bad("a sentence without words", self.line, "remove it")
        names = [*self.words, *self.phrases]
        number = {name: index for index, name in enumerate(names)}
        for name in self.above:
            if name not in number:
                line = self.lines.get(self.above[name][0], self.line)
                raise self.bad(f"node {name} is missing, which {self.above[name][0]} is above", line)
        parents = [self._parent(name, root, number) for name in names]
        graph = SentenceGraph(
            words=[word for word, _ in self.words.values()],
            labels=[tag for _, tag in self.words.values()] + list(self.phrases.values()),
            functions=[self.above[name][1] if name in self.above else "" for name in names],
            parents=parents,
        )
        self._check_acyclic(names, parents)
        for name, below in zip(names, children_of(parents), strict=False):
            if name in self.phrases and not below:
                raise self.bad(f"phrase {name} has nothing below it", self.lines[name], "remove it")
        return _without_virtual_root(graph)

    def _parent(self, name: str, root: str, number: dict[str, int]) -> int:
        parent = self.above[name][0] if name in self.above else None
        if parent == root and root not in number:
            return VIRTUAL_ROOT
        if parent is None and (name == root or name in self.words):
            return VIRTUAL_ROOT
        line = self.lines[name]
        if parent is None:
            raise self.bad(f"phrase {name} is not under the root", line, "give it a parent")
        if parent not in number:
            raise self.bad(f"node {name} hangs from {parent}, which is missing", line, "add it")
        if parent in self.words:
            raise self.bad(f"node {name} hangs from {parent}, which is a word", line, "hang it from a phrase")
        return number[parent]

    def _check_acyclic(self, names: list[str], parents: list[int]) -> None:
        safe = {VIRTUAL_ROOT}
        for start in range(len(parents)):
            seen, node = set(), start
            while node not in safe:
                if node in seen:
                    name = names[node]
                    raise self.bad(f"node {name} is above itself", self.lines[name], "break the cycle")
                seen.add(node)
                node = parents[node]
            safe |= seen

    def _note(self, name: str, line: int) -> None:
        if name in self.lines:
            raise self.bad(f"a second node {name}", line, "give each node a name of its own")
        self.lines[name] = line

    def bad(self, what: str, line: int, hint: str | None = None) -> InputError:
        """Make an error whose message names the file, this sentence and a line.

        Args:
            what: what is wrong.
            line: number of the line that is wrong.
            hint: advice, or None.
        """
        return InputError(what, path=self.path, line=line, sentence=self.sentence, hint=hint)


def _without_virtual_root(graph: SentenceGraph) -> SentenceGraph:
    """Return the graph without a phrase ``VROOT``, ``TOP`` or ``ROOT`` that dominates all other phrases."""
    phrases = range(len(graph.words), len(graph.parents))
    top = [node for node in phrases if graph.parents[node] == VIRTUAL_ROOT]
    if len(top) != 1 or graph.labels[top[0]] not in _ROOT_LABELS:
        return graph
    root = top[0]
    parents = [VIRTUAL_ROOT if each == root else each - (each > root) for each in graph.parents]
    kept = [node for node in range(len(graph.parents)) if node != root]
    return SentenceGraph(
        words=graph.words,
        labels=[graph.labels[node] for node in kept],
        functions=[graph.functions[node] for node in kept],
        parents=[parents[node] for node in kept],
    )
