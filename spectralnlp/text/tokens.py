"""Tokens and sentences, with character offsets into their text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spectralnlp.display import one_line
from spectralnlp.text.annotations import Annotations
from spectralnlp.text.constraints import Constraints


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text.

    Args:
        text: the characters of the input.
        form: the token as the model's treebank writes it, such as ``-LRB-`` for ``(``.
        start: offset of the first character, in decoded characters from the start of the stream.
        end: offset after the last character; ``end - start == len(text)``.
    """

    text: str
    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """The tokens of one sentence, optionally with part-of-speech tags, constraints and annotations.

    Args:
        tokens: one or more tokens in the order of the text.
        tags: one tag for each token, or None.
        constraints: constraints on the sentence's parse, or None.
        annotations: tags and a dependency parse as evidence for the tree, or None.

    Raises:
        InputError: the annotations are those of another number of tokens.
    """

    tokens: tuple[Token, ...]
    tags: tuple[str, ...] | None = None
    constraints: Constraints | None = None
    annotations: Annotations | None = None

    __repr__ = one_line

    def __post_init__(self) -> None:
        if not self.tokens:
            raise ValueError("a sentence has at least one token")
        if self.tags is not None and len(self.tags) != len(self.tokens):
            raise ValueError(f"{len(self.tags)} tags for {len(self.tokens)} tokens")
        if self.annotations is not None:
            self.annotations.check(len(self.tokens))

    def __len__(self) -> int:
        return len(self.tokens)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickled as columns, sentences reach workers a dozen times faster than as one object per token.
        columns = zip(*((each.text, each.form, each.start, each.end) for each in self.tokens), strict=True)
        return _from_columns, (*map(tuple, columns), self.tags, self.constraints, self.annotations)

    @property
    def forms(self) -> list[str]:
        """The tokens as the model's treebank writes them."""
        return [token.form for token in self.tokens]

    @property
    def words(self) -> list[str]:
        """The tokens as they appear in the text."""
        return [token.text for token in self.tokens]

    @property
    def start(self) -> int:
        """Offset of the first character."""
        return self.tokens[0].start

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.tokens[-1].end

    @classmethod
    def from_words(
        cls,
        words: Iterable[str],
        tags: Iterable[str] | None = None,
        forms: Iterable[str] | None = None,
    ) -> Sentence:
        """Return a sentence of given tokens, with offsets as if joined by single blanks.

        Args:
            words: the tokens as they appear in the text.
            tags: one tag for each token, or None.
            forms: the tokens as the model's treebank writes them; None if they are the words.
        """
        listed = list(words)
        tokens: list[Token] = []
        start = 0
        for word, form in zip(listed, listed if forms is None else forms, strict=True):
            tokens.append(Token(word, form, start, start + len(word)))
            start += len(word) + 1
        return cls(tuple(tokens), None if tags is None else tuple(tags))


def _from_columns(
    texts: tuple[str, ...],
    forms: tuple[str, ...],
    starts: tuple[int, ...],
    ends: tuple[int, ...],
    tags: tuple[str, ...] | None,
    constraints: Constraints | None,
    annotations: Annotations | None,
) -> Sentence:
    return Sentence(tuple(map(Token, texts, forms, starts, ends)), tags, constraints, annotations)
