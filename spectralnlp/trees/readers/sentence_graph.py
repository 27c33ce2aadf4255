"""Sentences of treebanks with crossing branches: words and phrases, each with a parent.

The parts of a phrase need not be neighbours, so a sentence is no bracketing: `raising` makes one of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spectralnlp.errors import InputError

VIRTUAL_ROOT = -1  # the parent of what hangs from nothing
_ROOT_LABELS = frozenset(["VROOT", "TOP", "ROOT"])


@dataclass(frozen=True)
class SentenceGraph:
    """A sentence whose nodes hang together: words first, numbered from left to right, then phrases.

    Args:
        words: the tokens.
        labels: of each node: tags of the words, then categories of phrases.
        functions: of each node: its edge's label, ``HD`` or ``SB``; may be empty.
        parents: of each node: the number of a phrase, or `VIRTUAL_ROOT`.
        root: label of what all hangs from; may be empty.
        empty: number of nodes without words that are left out.
    """

    words: list[str]
    labels: list[str]
    functions: list[str]
    parents: list[int]
    root: str = ""
    empty: int = 0


def children_of(parents: list[int]) -> list[list[int]]:
    """The children of each node, by number; those of the virtual root last.

    Args:
        parents: of each node, as in `SentenceGraph`.
    """
    below: list[list[int]] = [[] for _ in range(len(parents) + 1)]
    for node, parent in enumerate(parents):
        below[parent].append(node)
    return below


@dataclass
class GraphBuilder:
    """Collects the nodes of a sentence, in any order, and checks that they make a tree.

    Args:
        path: the file, for errors.
        sentence: number of the sentence in the file, from 1.
        line: its first line.
    """

    path: str | Path | None
    sentence: int
    line: int
    lines: dict[str, int] = field(default_factory=dict)
    words: dict[str, tuple[str, str]] = field(default_factory=dict)
    phrases: dict[str, str] = field(default_factory=dict)
    above: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_word(self, name: str, word: str, tag: str, line: int) -> None:
        """Add the next word.

        Raises:
            InputError: there is a node of this name, or the word is empty.
        """
        if not word:
            raise self.bad("a word is missing", line, "give every token a form")
        self._note(name, line)
        self.words[name] = word, tag

    def add_phrase(self, name: str, label: str, line: int) -> None:
        """Add a phrase.

        Raises:
            InputError: there is a node of this name.
        """
        self._note(name, line)
        self.phrases[name] = label

    def hang(self, name: str, parent: str, function: str, line: int) -> None:
        """Hang a node, which may be added later, from a parent.

        Raises:
            InputError: it has a parent.
        """
        if name in self.above:
            what = f"node {name} has two parents, {self.above[name][0]} and {parent}"
            raise self.bad(what, line, "give each node one parent; other relations are secondary edges")
        self.above[name] = parent, function

    def build(self, root: str) -> SentenceGraph:
        """The sentence, if every word and phrase is under the root.

        Args:
            root: name of the root: of a node, or of nothing but the root.

        Raises:
            InputError: there are no words; a phrase is empty; a parent is missing or a word; the root's tree
                does not cover every word; a node is above itself.
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
        if parent is None and name == root:
            return VIRTUAL_ROOT
        line = self.lines[name]
        if parent is None:
            kind = f"word {self.words[name][0]!r}" if name in self.words else f"phrase {name}"
            what = f"the tree does not cover the sentence: {kind} is not under the root"
            raise self.bad(what, line, "give it a parent")
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
        """Return an error that names this sentence and its line."""
        return InputError(what, path=self.path, line=line, sentence=self.sentence, hint=hint)


def _without_virtual_root(graph: SentenceGraph) -> SentenceGraph:
    """Take out a root that some files write as a phrase: ``VROOT`` says nothing."""
    n_words, top = len(graph.words), [n for n, parent in enumerate(graph.parents) if parent == VIRTUAL_ROOT]
    if len(top) != 1 or top[0] < n_words or graph.labels[top[0]] not in _ROOT_LABELS:
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
