"""Constraints on parses: brackets and tags of a sentence's tree that are known before parsing.

Constraints are checked in two steps: for consistency when they are made, and by `Constraints.check` against a
sentence and a model's labels.
"""

from __future__ import annotations

import difflib
import operator
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, NoReturn

from spectralnlp.display import one_line
from spectralnlp.errors import InputError

_FIELDS = ("brackets", "forbidden", "tags")
_LONGEST = 40  # characters of a value that a message quotes
_SHOWN = 5  # names that a message lists if none is similar

# Labels of the root node that every tree has.
_ROOTS = ("TOP", "ROOT")


class ConstraintError(InputError):
    """Error for constraints that are inconsistent or that no tree satisfies; the message names them.

    Examples:
        >>> import spectralnlp
        >>> try:
        ...     spectralnlp.load("en").parse_tokens(["Gulls", "fly"], brackets=[(0, 3)])
        ... except spectralnlp.SpectralError as error:
        ...     print(error)
        ...
        bracket (0, 3) reaches beyond the sentence, which has 2 tokens; count tokens from 0, the end exclusive
    """


class NoTreeError(ConstraintError):
    """Error for consistent constraints that no tree of the model satisfies; the message names them."""


class Bracket(NamedTuple):
    """A span of tokens with an optional constituent label.

    Attributes:
        start, end: indices of tokens, from 0, ``end`` exclusive.
        label: label of a phrase, without function tags; None for any label.
    """

    start: int
    end: int
    label: str | None = None

    def __str__(self) -> str:
        return f"({self.start}, {self.end}{'' if self.label is None else f', {self.label!r}'})"

    @property
    def span(self) -> tuple[int, int]:
        """Index of the first token, and end index (exclusive)."""
        return self.start, self.end


@dataclass(frozen=True, kw_only=True)
class Constraints:
    """Brackets that a sentence's tree must have, brackets that it must not have, and tags of some words.

    A tree satisfies a required bracket if it has a constituent with that label and span, which may be part of
    a unary chain; a bracket without a label accepts any label. A forbidden bracket without a label forbids
    all constituents with that span. The root ``TOP`` and tags do not count as constituents.

    Attributes:
        brackets: required brackets, unique, sorted by start, wider ones first.
        forbidden: forbidden brackets, in the same order.
        tags: pairs (token, tag) of words whose tags are known, sorted by token.

    Raises:
        ConstraintError: brackets cross, a bracket is both required and forbidden, or a word has two tags.

    Examples:
        >>> from spectralnlp import Constraints
        >>> constraints = Constraints.of(brackets=[(0, 3, "NP"), (3, 5)], tags={1: "NN"})
        >>> constraints.brackets[0].label, constraints.brackets[1].label
        ('NP', None)
    """

    brackets: tuple[Bracket, ...] = ()
    forbidden: tuple[Bracket, ...] = ()
    tags: tuple[tuple[int, str], ...] = ()

    __repr__ = one_line

    def __post_init__(self) -> None:
        _check_nesting(self.brackets)
        _check_conflicts(self)

    def __bool__(self) -> bool:
        return bool(self.brackets or self.forbidden or self.tags)

    @classmethod
    def of(
        cls,
        brackets: Iterable[Sequence[Any]] = (),
        forbidden: Iterable[Sequence[Any]] = (),
        tags: Mapping[int, str] | None = None,
    ) -> Constraints:
        """Return constraints made from tuples and a mapping.

        Args:
            brackets: required brackets, each (start, end) or (start, end, label), ``end`` exclusive.
            forbidden: forbidden brackets, written in the same way.
            tags: tags of some tokens, by index of the token from 0.

        Raises:
            ConstraintError: a bracket or tag is malformed or empty, or the constraints are inconsistent.
        """
        return cls(
            brackets=_brackets_of(brackets, "brackets"),
            forbidden=_brackets_of(forbidden, "forbidden"),
            tags=_tags_of({} if tags is None else tags),
        )

    @classmethod
    def from_json(cls, value: Any) -> Constraints:
        """Return the constraints that `to_json` converted to JSON values.

        A missing field means no constraint.

        Raises:
            ConstraintError: the value has another form, or the constraints are malformed or inconsistent.
        """
        if not isinstance(value, dict):
            what = f"constraints are an object, not {_kind(value)}"
            raise ConstraintError(what, hint='give {"brackets": [[0, 3, "NP"]]}')
        for name in value:
            if name not in _FIELDS:
                what = f"constraints have no {name!r}"
                raise ConstraintError(what, hint="there are brackets, forbidden and tags")
        tags = value.get("tags") or {}
        if not isinstance(tags, dict) or not all(_is_number(key) for key in tags):
            raise ConstraintError("`tags` are no map from tokens to tags", hint='give {"4": "NN"}')
        return cls.of(
            value.get("brackets") or (),
            value.get("forbidden") or (),
            {int(key): tag for key, tag in tags.items()},
        )

    def to_json(self) -> dict[str, Any]:
        """Return the constraints as JSON values: lists [start, end, label], and a map from tokens to tags."""
        return {
            "brackets": [list(each) for each in self.brackets],
            "forbidden": [list(each) for each in self.forbidden],
            "tags": {str(token): tag for token, tag in self.tags},
        }

    def parts(self) -> list[tuple[str, Constraints]]:
        """Return the constraints one by one, as pairs of a description and a `Constraints` object."""
        return [
            *((f"bracket {each}", Constraints(brackets=(each,))) for each in self.brackets),
            *((f"forbidden bracket {each}", Constraints(forbidden=(each,))) for each in self.forbidden),
            *((f"tag {tag!r} of token {i}", Constraints(tags=((i, tag),))) for i, tag in self.tags),
        ]

    @classmethod
    def union(cls, parts: Iterable[Constraints]) -> Constraints:
        """Combine several `Constraints` objects, none of which may repeat a constraint of another."""
        listed = list(parts)
        return cls(
            brackets=tuple(bracket for each in listed for bracket in each.brackets),
            forbidden=tuple(bracket for each in listed for bracket in each.forbidden),
            tags=tuple(tag for each in listed for tag in each.tags),
        )

    def check(self, n_tokens: int, phrases: Collection[str], tags: Collection[str]) -> Constraints:
        """Check that the constraints fit a sentence and a model's labels, and return them for the parser.

        A required bracket for the root (``TOP`` over all tokens) is left out of the result, because every
        tree has it.

        Args:
            n_tokens: number of tokens of the sentence.
            phrases: phrase labels of the model.
            tags: tags of the model.

        Raises:
            ConstraintError: a token is out of range, or a label is unknown.
        """
        for kind, brackets in (("bracket", self.brackets), ("forbidden bracket", self.forbidden)):
            for each in brackets:
                if each.end > n_tokens:
                    _refuse_range(f"{kind} {each} reaches", n_tokens)
        for token, tag in self.tags:
            if token >= n_tokens:
                _refuse_range(f"tag {tag!r} of token {token} is", n_tokens)
            if tag not in tags:
                raise ConstraintError(f"the model has no tag {tag!r}", hint=similar_names(tag, tags))
        is_root = {
            each
            for each in self.brackets
            if each.span == (0, n_tokens) and each.label in _ROOTS and each.label not in phrases
        }
        for each in (*self.brackets, *self.forbidden):
            if each.label is None or each.label in phrases or each in is_root:
                continue
            hint = "give it in `tags`" if each.label in tags else similar_names(each.label, phrases)
            what = "a tag, no phrase" if each.label in tags else "no phrase of the model"
            raise ConstraintError(f"bracket {each}: {each.label!r} is {what}", hint=hint)
        if not is_root:
            return self
        return replace(self, brackets=tuple(each for each in self.brackets if each not in is_root))

    def broken_by(self, constituents: Iterable[tuple[str, int, int]], tags: Iterable[str]) -> str | None:
        """Return a description of the first constraint that a tree violates, or None.

        Args:
            constituents: (label, start, end) of each constituent, without the root.
            tags: tag of each word.
        """
        labelled = set(constituents)
        spans = {(start, end) for _, start, end in labelled}

        def has(bracket: Bracket) -> bool:
            if bracket.label is None:
                return bracket.span in spans
            return (bracket.label, *bracket.span) in labelled

        tag_of = list(tags)
        for bracket in self.brackets:
            if not has(bracket):
                return f"bracket {bracket}"
        for bracket in self.forbidden:
            if has(bracket):
                return f"forbidden bracket {bracket}"
        for token, tag in self.tags:
            if tag_of[token] != tag:
                return f"tag {tag!r} of token {token}"
        return None


def _brackets_of(value: object, name: str) -> tuple[Bracket, ...]:
    """Convert an argument to brackets, unique and sorted by start, wider ones first.

    Args:
        value: the argument, a list of (start, end) or (start, end, label).
        name: name of the argument, for error messages.

    Raises:
        ConstraintError: the argument is not a list, or an item is no bracket.
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ConstraintError(f"`{name}` is {_kind(value)}, no list of brackets", hint="give [(0, 3)]")
    read = {_bracket_of(each, name) for each in value}
    return tuple(sorted(read, key=lambda each: (each.start, -each.end, each.label or "")))


def _bracket_of(value: object, name: str) -> Bracket:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence) or len(value) not in (2, 3):
        hint = "give (start, end) or (start, end, label)"
        raise ConstraintError(f"`{name}` has {_shown(value)}, which is no bracket", hint=hint)
    start, end = (_token_of(each, f"bracket {_shown(value)} of `{name}`") for each in value[:2])
    label = value[2] if len(value) == 3 else None
    if label is not None and (not isinstance(label, str) or not label):
        hint = "give the label of a phrase, or none"
        raise ConstraintError(f"bracket {_shown(value)} of `{name}`: {_shown(label)} is no label", hint=hint)
    if start >= end:
        hint = "the end is exclusive: (0, 3) are the first three tokens"
        raise ConstraintError(f"bracket {_shown(value)} of `{name}` is empty", hint=hint)
    return Bracket(start, end, None if label is None else str(label))


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 10


def _tags_of(value: object) -> tuple[tuple[int, str], ...]:
    if not isinstance(value, Mapping):
        raise ConstraintError(f"`tags` are {_kind(value)}, no map", hint='give {4: "NN"}')
    for token, tag in value.items():
        if not isinstance(tag, str) or not tag:
            raise ConstraintError(f"token {_shown(token)}: {_shown(tag)} is no tag", hint='give {4: "NN"}')
    return tuple(sorted((_token_of(token, "`tags`"), str(tag)) for token, tag in value.items()))


def _token_of(value: object, where: str) -> int:
    """Return the index of a token, after checking that it is an integer from 0."""
    try:
        token = -1 if isinstance(value, bool) else operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        token = -1
    if token < 0:
        what = f"{where}: {_shown(value)} is no token's number"
        raise ConstraintError(what, hint="count tokens from 0")
    return token


def _check_nesting(brackets: Sequence[Bracket]) -> None:
    """Raise ConstraintError if brackets cross."""
    around: list[Bracket] = []
    for each in sorted(brackets, key=lambda each: (each.start, -each.end)):
        while around and around[-1].end <= each.start:
            around.pop()
        if around and around[-1].end < each.end:
            what = f"brackets {around[-1]} and {each} cross"
            raise ConstraintError(what, hint="brackets of a tree nest or stand side by side")
        around.append(each)


def _check_conflicts(constraints: Constraints) -> None:
    """Raise ConstraintError for a bracket that is required and forbidden, or two tags of a token."""
    forbidden = set(constraints.forbidden)
    for each in constraints.brackets:
        for other in (each, each._replace(label=None)):
            if other in forbidden:
                what = f"bracket {each} is required, and {other} is forbidden"
                raise ConstraintError(what, hint="leave one of them out")
    tag_of: dict[int, str] = {}
    for token, tag in constraints.tags:
        if tag_of.setdefault(token, tag) != tag:
            what = f"token {token} is given two tags, {tag_of[token]!r} and {tag!r}"
            raise ConstraintError(what, hint="leave one of them out")


def _refuse_range(what: str, n_tokens: int) -> NoReturn:
    has = f"which has {n_tokens} token{'' if n_tokens == 1 else 's'}"
    what = f"{what} beyond the sentence, {has}"
    raise ConstraintError(what, hint="count tokens from 0, the end exclusive")


def similar_names(name: str, known: Collection[str]) -> str:
    """Return a hint for an error about an unknown name: known names that are similar to it.

    If no name is similar, the hint lists a few known names.
    """
    close = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    if close:
        return f"did you mean {' or '.join(close)}?"
    some = sorted(known)[:_SHOWN]
    return f"there are {', '.join(some)}{' and more' if len(known) > len(some) else ''}"


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
