"""Annotated sentences, and the edits that change them.

Sentences are immutable; an edit returns a new one. The last edit wins: a required bracket replaces earlier
ones that it crosses, and is no longer forbidden.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spectralnlp.display import one_line
from spectralnlp.errors import InputError
from spectralnlp.text.constraints import Bracket, Constraints
from spectralnlp.trees import Tree

_LONGEST_WORD, _LONGEST_COMMENT = 200, 2000


class EditError(InputError):
    """Error of an edit that does not fit the sentence."""


class NewLabelError(EditError):
    """Error of an edit that uses a new label or tag without setting ``new`` to show that it is intended.

    Attributes:
        label: the new label or tag.
    """

    def __init__(self, label: str, what: str, hint: str | None) -> None:
        super().__init__(what, hint=hint)
        self.label = label


@dataclass(frozen=True, kw_only=True)
class AnnotatedSentence:
    """Sentence with constraints on its tree.

    Attributes:
        words: tokens of the sentence, at least one.
        brackets: brackets that the tree must have.
        forbidden: brackets that the tree must not have; a label of None is any label.
        tags: required tags, as (index of the word, tag).
        comment: comment of the annotator.
        tree: accepted tree in brackets; None if no tree is accepted.
    """

    words: tuple[str, ...]
    brackets: frozenset[Bracket] = frozenset()
    forbidden: frozenset[Bracket] = frozenset()
    tags: tuple[tuple[int, str], ...] = ()
    comment: str = ""
    tree: str | None = None

    __repr__ = one_line

    @property
    def constraints(self) -> Constraints:
        """Constraints under which the sentence is parsed: required and forbidden brackets, and tags."""
        return Constraints.of(self.brackets, self.forbidden, dict(self.tags))

    def with_tree(self, tree: Tree) -> AnnotatedSentence:
        """Return the sentence with all brackets and tags of a tree required.

        Args:
            tree: tree over the words of the sentence.
        """
        brackets = frozenset(Bracket(start, end, label) for label, start, end in tree.spans())
        return replace(self, brackets=brackets, tags=tuple(enumerate(tree.tags())))

    def edited(self, edit: Mapping[str, Any]) -> AnnotatedSentence:
        """Return the sentence after an edit.

        Args:
            edit: the edit as JSON values: its name under ``do``, and the arguments of the function of this
                name in this module; ``new`` is true if a new label is intended.

        Raises:
            EditError: the edit is unknown or does not fit the sentence.
        """
        _check_values(edit)
        fields = {name: value for name, value in edit.items() if name not in ("do", "new")}
        name = edit.get("do")
        change = EDITS.get(name) if isinstance(name, str) else None
        if change is None:
            raise EditError(f"no edit {str(name)[:40]!r}", hint=f"choose from {', '.join(EDITS)}")
        try:
            changed = change(self, **fields)
        except TypeError as error:
            what = f"{name}: {str(error).partition(') ')[2]}"
            raise EditError(what, hint="docs/how-to/annotate.md describes the edits") from error
        return changed if name in _KEEP_TREE else replace(changed, tree=None)


def require(sentence: AnnotatedSentence, start: Any, end: Any, label: Any) -> AnnotatedSentence:
    """Require a bracket, and drop required brackets that cross the bracket and constraints that forbid it.

    Args:
        sentence: the sentence.
        start, end: range of words, ``end`` exclusive.
        label: label of the bracket.
    """
    bracket = _bracket(sentence, start, end, label)
    forbidden = sentence.forbidden - {bracket, bracket._replace(label=None)}
    kept = {each for each in sentence.brackets if not _cross(each, bracket)}
    return replace(sentence, brackets=frozenset(kept | {bracket}), forbidden=forbidden)


def remove(sentence: AnnotatedSentence, start: Any, end: Any, label: Any = None) -> AnnotatedSentence:
    """Forbid a bracket.

    Without a label, forbid every constituent over the words from ``start`` to ``end``.
    """
    bracket = _bracket(sentence, start, end, label)
    gone = {each for each in sentence.brackets if each.span == bracket.span and label in (None, each.label)}
    return replace(sentence, brackets=sentence.brackets - gone, forbidden=sentence.forbidden | {bracket})


def move(
    sentence: AnnotatedSentence, start: Any, end: Any, label: Any, new_start: Any, new_end: Any
) -> AnnotatedSentence:
    """Move a bracket: forbid it at its old boundaries, and require it at the new ones."""
    return require(remove(sentence, start, end, label), new_start, new_end, label)


def relabel(
    sentence: AnnotatedSentence, start: Any, end: Any, label: Any, new_label: Any
) -> AnnotatedSentence:
    """Change the label of a bracket: forbid it with the old label, and require it with the new one."""
    return require(remove(sentence, start, end, label), start, end, new_label)


def tag(sentence: AnnotatedSentence, word: Any, tag: Any) -> AnnotatedSentence:
    """Require a certain tag of a word."""
    tags = dict(sentence.tags) | {_word(sentence, word): _label(tag, "tag")}
    return replace(sentence, tags=tuple(sorted(tags.items())))


def merge(sentence: AnnotatedSentence, word: Any) -> AnnotatedSentence:
    """Merge a token with the next one, and move brackets and tags with their words."""
    first = _word(sentence, word)
    if first + 1 == len(sentence.words):
        raise EditError("the last token has no next one", hint="merge the token before it")
    words = (
        *sentence.words[:first],
        "".join(sentence.words[first : first + 2]),
        *sentence.words[first + 2 :],
    )
    return _retokenised(sentence, words, lambda edge: edge if edge <= first else edge - 1, {first, first + 1})


def split(sentence: AnnotatedSentence, word: Any, parts: Any) -> AnnotatedSentence:
    """Split a token into several.

    Args:
        sentence: the sentence.
        word: index of the token.
        parts: the new tokens, as text with spaces between them.
    """
    place = _word(sentence, word)
    tokens = parts.split() if isinstance(parts, str) else []
    if len(tokens) < 2:
        raise EditError("a token must be split into two or more", hint="put a space at each cut")
    if max(map(len, tokens)) > _LONGEST_WORD:
        raise EditError(f"a token of more than {_LONGEST_WORD} characters", hint="give shorter ones")
    words = (*sentence.words[:place], *tokens, *sentence.words[place + 1 :])
    return _retokenised(
        sentence, words, lambda edge: edge if edge <= place else edge + len(tokens) - 1, {place}
    )


def comment(sentence: AnnotatedSentence, text: Any) -> AnnotatedSentence:
    """Replace the annotator's comment on the sentence."""
    if not isinstance(text, str) or len(text) > _LONGEST_COMMENT:
        raise EditError("a comment must be text", hint=f"give at most {_LONGEST_COMMENT} characters")
    return replace(sentence, comment=text)


def accept(sentence: AnnotatedSentence, tree: Any) -> AnnotatedSentence:
    """Accept a tree as the annotation of the sentence."""
    if not isinstance(tree, str):
        raise EditError("a tree must be text in brackets", hint="accept the tree that is shown")
    return replace(sentence, tree=tree)


def reopen(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Withdraw the accepted tree; the constraints stay."""
    return replace(sentence, tree=None)


def clear(sentence: AnnotatedSentence) -> AnnotatedSentence:
    """Drop all constraints on brackets and tags."""
    return replace(sentence, brackets=frozenset(), forbidden=frozenset(), tags=())


Edit = Callable[..., AnnotatedSentence]
EDITS: Mapping[str, Edit] = {
    each.__name__: each
    for each in (require, remove, move, relabel, tag, merge, split, comment, accept, reopen, clear)
}
_KEEP_TREE = ("accept", "comment")
# For each edit that requires a label, the field that holds it.
LABELS: Mapping[str, str] = {"require": "label", "relabel": "new_label", "tag": "tag"}


def _retokenised(
    sentence: AnnotatedSentence,
    words: tuple[str, ...],
    edge_after: Callable[[int], int],
    changed: Iterable[int],
) -> AnnotatedSentence:
    """Return a sentence with new tokens, and with its brackets and tags moved along with their words.

    Tags of merged or split tokens are dropped. Brackets that would be empty are dropped too.

    Args:
        sentence: the sentence before the change.
        words: the new tokens.
        edge_after: function that maps each boundary between the old tokens to a boundary of the new ones.
        changed: indices of the old tokens that were merged or split.
    """

    def moved(brackets: frozenset[Bracket]) -> frozenset[Bracket]:
        placed = (each._replace(start=edge_after(each.start), end=edge_after(each.end)) for each in brackets)
        return frozenset(each for each in placed if each.start < each.end)

    gone = set(changed)
    tags = tuple((edge_after(place), tag) for place, tag in sentence.tags if place not in gone)
    return replace(
        sentence,
        words=words,
        brackets=moved(sentence.brackets),
        forbidden=moved(sentence.forbidden) - moved(sentence.brackets),
        tags=tags,
    )


def _cross(one: Bracket, other: Bracket) -> bool:
    return one.start < other.start < one.end < other.end or other.start < one.start < other.end < one.end


def _bracket(sentence: AnnotatedSentence, start: Any, end: Any, label: Any) -> Bracket:
    n = len(sentence.words)
    if not (_is_number(start) and _is_number(end) and 0 <= start < end <= n):
        raise EditError("no such words", hint=f"the sentence has the words 0 to {n - 1}")
    return Bracket(start, end, None if label is None else _label(label, "label"))


def _word(sentence: AnnotatedSentence, word: Any) -> int:
    if not (_is_number(word) and 0 <= word < len(sentence.words)):
        raise EditError("no such word", hint=f"the sentence has the words 0 to {len(sentence.words) - 1}")
    return int(word)


def _label(label: Any, what: str) -> str:
    if not isinstance(label, str) or not 0 < len(label) <= _LONGEST_WORD:
        raise EditError(f"no {what} was given", hint=f"give a {what} of the model")
    if any(character in "()" or character.isspace() for character in label):
        raise EditError(f"{label!r} is not a {what}", hint="leave out spaces and brackets")
    return label


def _check_values(edit: Mapping[str, Any]) -> None:
    """Raise EditError if an edit has text of invalid Unicode, or its field ``new`` is not true or false."""
    if not isinstance(edit.get("new", False), bool):
        raise EditError("`new` must be true or false", hint="docs/how-to/annotate.md describes the edits")
    for field, value in edit.items():
        texts = (field, value) if isinstance(value, str) else (field,)
        if any("\ud800" <= character <= "\udfff" for text in texts for character in text):
            raise EditError(f"{field[:40]!a} has an unpaired surrogate", hint="give valid Unicode text")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
