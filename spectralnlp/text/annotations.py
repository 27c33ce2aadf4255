"""Annotations of a sentence: the tags and the dependency parse that an earlier step of a pipeline made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from sys import intern
from typing import Any

from spectralnlp.display import one_line
from spectralnlp.errors import InputError

ROOT = -1  # head of a root
_FROM_ZERO = "count tokens from 0; the head of a root is -1"


@dataclass(frozen=True, slots=True)
class Annotations:
    """Tags and a dependency parse of one sentence, as evidence for its tree.

    Components that were trained with annotations of the same scheme use them, all others ignore them. They do
    not constrain the tree.

    Args:
        heads: for each token the index of its head, from 0; -1 for a root, of which there may be several.
        labels: for each token its relation to its head, such as ``nsubj``.
        tags: for each token its part of speech.

    Raises:
        InputError: there are no tokens, the lengths differ, a head is out of range, heads form a cycle, there
            is no root, or a label or tag is missing.

    Examples:
        >>> from spectralnlp import Annotations
        >>> Annotations(heads=[1, -1], labels=["nsubj", "ROOT"], tags=["NNS", "VBP"]).heads
        (1, -1)
    """

    heads: Sequence[int]
    labels: Sequence[str]
    tags: Sequence[str]

    __repr__ = one_line

    def __post_init__(self) -> None:
        labels, tags = _names(self.labels, "label"), _names(self.tags, "tag")
        heads = _indices(self.heads)
        if not len(heads) == len(labels) == len(tags):
            what = f"{len(heads)} heads, {len(labels)} labels and {len(tags)} tags"
            raise InputError(what, hint="give each token one of each")
        _check_heads(heads)
        for name, value in (("heads", heads), ("labels", labels), ("tags", tags)):
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.heads)

    def __reduce__(self) -> tuple[Any, ...]:
        return Annotations, (self.heads, self.labels, self.tags)

    def check(self, n_tokens: int) -> Annotations:
        """Return these annotations, after checking that they are those of a sentence of so many tokens.

        Raises:
            InputError: the sentence has another number of tokens.
        """
        if len(self) != n_tokens:
            what = f"{n_tokens} tokens, and annotations of {len(self)}"
            raise InputError(what, hint="annotate the same tokens")
        return self

    def part(self, start: int, end: int) -> Annotations:
        """Return the annotations of some adjacent tokens, of which those with a head elsewhere become roots.

        Args:
            start: index of the first token.
            end: index after the last token.
        """
        heads = [head - start if start <= head < end else ROOT for head in self.heads[start:end]]
        return Annotations(heads, self.labels[start:end], self.tags[start:end])


def _names(names: Any, kind: str) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InputError(f"{kind}s are {type(names).__name__}, not a list", hint=f"give each token a {kind}")
    listed = tuple(names)
    for number, name in enumerate(listed, 1):
        if not isinstance(name, str) or not name:
            shown = "empty" if name == "" else type(name).__name__
            raise InputError(f"the {kind} of token {number} is {shown}", hint=f"give each token a {kind}")
    return tuple(map(intern, listed))  # a file of 100,000 sentences has a hundred names


def _indices(heads: Any) -> tuple[int, ...]:
    if isinstance(heads, str) or not isinstance(heads, Iterable):
        raise InputError(f"heads are {type(heads).__name__}, not a list", hint=_FROM_ZERO)
    listed = tuple(heads)
    for number, head in enumerate(listed, 1):
        if isinstance(head, bool) or not isinstance(head, Integral):
            what = f"the head of token {number} is {type(head).__name__}, not a whole number"
            raise InputError(what, hint=_FROM_ZERO)
    return tuple(map(int, listed))


def _check_heads(heads: Sequence[int]) -> None:
    """Check that heads are in range, and that every token is below a root."""
    if not heads:
        raise InputError("annotations of no tokens", hint="give None instead")
    for token, head in enumerate(heads):
        if not ROOT <= head < len(heads) or head == token:
            raise InputError(f"the head of token {token} is {head}, of {len(heads)} tokens", hint=_FROM_ZERO)
    if ROOT not in heads:
        raise InputError("no token is a root", hint=_FROM_ZERO)
    checked = [False] * len(heads)
    for token in range(len(heads)):
        path = []
        while token != ROOT and not checked[token]:
            checked[token] = True
            path.append(token)
            token = heads[token]
        if token in path:
            cycle = path[path.index(token) :]
            raise InputError(f"heads form a cycle: tokens {', '.join(map(str, cycle))}", hint=_FROM_ZERO)
