"""Heads and relations of the words of a sentence while they are found."""

from __future__ import annotations

from spectralnlp_trees.dependencies.phrases import Phrase


class Arcs:
    """Heads and relations of the words of a sentence while they are found.

    Args:
        words: parts of speech, from left to right.
    """

    def __init__(self, words: list[Phrase]) -> None:
        self.words = words
        self.heads = [-1] * len(words)
        self.relations = ["root"] * len(words)

    def connect(self, dependent: int, head: int, relation: str) -> None:
        """Make a word depend on another, unless they are one."""
        if dependent != head:
            self.heads[dependent], self.relations[dependent] = head, relation

    def mend(self) -> None:
        """Cut circles, so that the arcs are a tree with one root whatever the rules did."""
        heads, relations = self.heads, self.relations
        roots = [index for index, head in enumerate(heads) if head < 0] or [0]
        root = roots[0]
        heads[root], relations[root] = -1, "root"
        for other in roots[1:]:
            heads[other], relations[other] = root, "parataxis"
        walk = [-1] * len(heads)  # number of the walk that came by
        walk[root] = len(heads)
        for start in range(len(heads)):
            index = start
            while walk[index] < 0:
                walk[index] = start
                index = heads[index]
            if walk[index] == start:
                heads[index], relations[index] = root, "dep"
