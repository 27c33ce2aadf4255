"""The dependencies of a sentence as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spectralnlp.display import one_line

_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """A tree over the words of a sentence.

    Attributes:
        words: forms; escaped brackets are brackets again.
        tags: parts of speech, as the constituency tree has them.
        universal_tags: universal parts of speech; empty strings where they are not known.
        heads: index of each word's head; -1 for the root's.
        relations: of each word to its head.

    Examples:
        >>> from spectralnlp_trees import to_dependencies
        >>> from spectralnlp.trees import read_brackets
        >>> (tree,) = read_brackets(["(S (NP (NNS Gulls)) (VP (VBP fly)) (. .))"])
        >>> found = to_dependencies(tree)
        >>> found.heads, found.relations
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
        """Index of the word that depends on none."""
        return self.heads.index(-1)

    def to_conllu(self, comments: Mapping[str, str] | None = None, misc: Sequence[str] | None = None) -> str:
        """CoNLL-U: ten columns a word, ends in an empty line.

        Args:
            comments: lines above, ``# name = value``; ``text`` is the words with blanks between by default.
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
    """A word without the escapes of treebanks: ``(`` for ``-LRB-``."""
    return _BRACKETS.get(word, word)


def _field(text: str) -> str:
    """A text as a column can hold it."""
    return "_".join(text.split()) or "_"
