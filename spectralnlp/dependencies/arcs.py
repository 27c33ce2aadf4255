"""Heads and relations of the words of a sentence while they are found."""

from __future__ import annotations

from spectralnlp.dependencies.phrases import Phrase


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
