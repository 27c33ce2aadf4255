"""Immutable dependency tree of a sentence, and its CoNLL-U form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spectralnlp.display import one_line

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """Dependency tree of a sentence.

    Attributes:
        words: word forms; escaped brackets (``-LRB-``) are unescaped.
        tags: part-of-speech tags of the constituency tree.
        universal_tags: universal part-of-speech tags; empty strings if they are unknown.
        heads: index of each word's head; -1 for the root.
        relations: relation of each word to its head.

    Examples:
        >>> from spectralnlp_trees import to_dependencies
        >>> from spectralnlp.trees import read_brackets
        >>> (tree,) = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP fly)) (. .))"])
        >>> dependencies = to_dependencies(tree)
        >>> dependencies.heads, dependencies.relations
        ((1, -1, 1), ('nsubj', 'root', 'punct'))
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    universal_tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]

    __repr__ = one_line

    def __len__(self) -> int:
        return len(self.words)

    @property
    def root(self) -> int:
        """Index of the root, the word that has no head."""
        return self.heads.index(-1)

    def to_conllu(self, comments: Mapping[str, str] | None = None, misc: Sequence[str] | None = None) -> str:
        """Return the sentence in CoNLL-U, with ten columns per word.

        The text ends in a line break; ``print`` adds the empty line that CoNLL-U needs after a sentence.

        Args:
            comments: values of comment lines (``# name = value``) by name; by default ``text`` is the words
                joined by spaces.
            misc: last column of each word; ``_`` by default.
        """
        comments = {**(comments or {})}
        comments.setdefault("text", " ".join(self.words))
        lines = [f"# {name} = {' '.join(value.split())}" for name, value in comments.items()]
        last = misc or ["_"] * len(self)
        columns = zip(
            self.words, self.tags, self.universal_tags, self.heads, self.relations, last, strict=True
        )
        for number, (word, tag, upos, head, relation, note) in enumerate(columns, 1):
            fields = [str(number), _field(word), "_", upos or "_", _field(tag), "_", str(head + 1), relation]
            lines.append("\t".join([*fields, "_", note]))
        return "\n".join([*lines, ""])


def plain_form(word: str) -> str:
    """Return a word with the bracket escapes of treebanks undone: ``(`` for ``-LRB-``."""
    return _BRACKETS.get(word, word)


def _field(text: str) -> str:
    """Return text without whitespace, as a CoNLL-U column requires; ``_`` for an empty text."""
    return "_".join(text.split()) or "_"
