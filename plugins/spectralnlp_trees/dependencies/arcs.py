"""Mutable dependency tree of a sentence, which conversion rules fill in arc by arc."""

from __future__ import annotations

from spectralnlp_trees.dependencies.phrases import Phrase


class Arcs:
    """Heads and relations of the words of a sentence, while the conversion rules assign them.

    Args:
        words: preterminals from left to right.

    Attributes:
        heads: index of each word's head; -1 for a root. At first all words are roots.
        relations: relation of each word to its head.
    """

    def __init__(self, words: list[Phrase]) -> None:
        self.words = words
        self.heads = [-1] * len(words)
        self.relations = ["root"] * len(words)

    def connect(self, dependent: int, head: int, relation: str) -> None:
        """Make a word depend on another with a relation; do nothing if both are the same word.

        Args:
            dependent: index of the word.
            head: index of its new head.
            relation: relation of the word to the head.
        """
        if dependent != head:
            self.heads[dependent], self.relations[dependent] = head, relation

    def mend(self) -> None:
        """Break cycles of arcs and attach extra roots, so that the arcs form a tree with one root."""
        heads, relations = self.heads, self.relations
        roots = [index for index, head in enumerate(heads) if head < 0] or [0]
        root = roots[0]
        heads[root], relations[root] = -1, "root"
        for other in roots[1:]:
            heads[other], relations[other] = root, "parataxis"
        walk = [-1] * len(heads)  # for each word, the start of the walk that visited it
        walk[root] = len(heads)
        for start in range(len(heads)):
            index = start
            while walk[index] < 0:
                walk[index] = start
                index = heads[index]
            if walk[index] == start:
                heads[index], relations[index] = root, "dep"
