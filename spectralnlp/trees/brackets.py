"""Read bracketed trees lazily from lines of text."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spectralnlp.errors import InputError
from spectralnlp.runtime import OnBad, report_bad
from spectralnlp.trees.tree import Tree, unescaped

Leaf = Callable[[list[str]], "str | None"]
Adapt = Callable[[Tree], "Tree | None"]

# A word may have brackets behind backslashes, as NLTK reads them: (X :\)). The word of (NN \) is a backslash,
# unless its tag is -RRB-.
_WORD = r"[^()\s]+(?:(?:(?<=\\)\(|(?<=[^\s(\\]\\)\)(?=\s*\)|[^()\s])|(?<=-RRB-\s\\)\)(?=\s*\)))[^()\s]*)*"
# Only ASCII blanks separate tokens: treebanks have U+00A0 and the like inside tokens.
_TOKEN = re.compile(
    rf"\(([^()\s]+)\s+({_WORD})\s*\)"  # groups 1, 2: a whole preterminal, as more than half of all nodes are
    r"|\(\s*([^()\s]*)"  # group 3: an opening bracket and its label
    r"|(\))"  # group 4
    rf"|({_WORD})",  # group 5: a word, or a label on the line after its bracket
    re.ASCII,
)
_PRETERMINAL, _OPEN, _CLOSE = 2, 3, 4
_BLANKS = " \t\r\n\f\v"


def single_word(parts: list[str]) -> str | None:
    """Return the word of a preterminal, the only item of ``parts``; None if there is not exactly one.

    `read_brackets` calls this function by default, for treebanks whose leaves are single words.
    """
    return parts[0] if len(parts) == 1 else None


def read_brackets(
    lines: Iterable[str],
    *,
    path: str | Path | None = None,
    on_bad: OnBad | None = None,
    leaf: Leaf = single_word,
    adapt: Adapt | None = None,
) -> Iterator[Tree]:
    r"""Yield the trees in lines of brackets; a tree may span lines, and a line may have several trees.

    The outer bracket may lack a label, ``( (S ...))``; the root's label is then empty. The children of an
    inner bracket without a label become children of its parent. Non-breaking spaces between brackets are
    blanks; ``\(`` and ``\)`` are brackets of a word, as in NLTK. A tree is yielded when the next one begins,
    so that the error of a surplus closing bracket names the right tree.

    Args:
        lines: lines with or without their ends.
        path: path of the file, for error messages.
        on_bad: called with the error of every bad tree; None to raise the first error. Reading resumes at the
            first line that begins with ``(`` after the line where the bad tree begins. An error from
            ``lines`` itself, such as a wrong encoding, is reported in the same way and ends the reading.
        leaf: function that takes the parts of a preterminal's text, split at blanks, and returns the word, or
            None if the text is not a valid leaf. The list of parts is empty for an empty bracket.
        adapt: function that returns a changed tree, or None to skip the tree. If the function raises an
            InputError, the number of the tree's first line is added.

    Raises:
        InputError: brackets are unbalanced or empty, there is text outside brackets, a word has no
            preterminal of its own, or there is a NUL. The error has the path, the line and the number of the
            tree.

    Examples:
        >>> from spectralnlp.trees import read_brackets
        >>> [str(tree) for tree in read_brackets(["(NP (NN bread))", "(NP (NN salt))"])]
        ['(NP (NN bread))', '(NP (NN salt))']
    """
    source = _Source(lines)
    while True:
        try:
            yield from _parse(source, path, leaf, adapt)
            return
        except InputError as error:
            report_bad(error, on_bad)
            source.resume()


class _Source:
    """Iterator over pairs of a line number and a line, which can go back after an invalid tree.

    An invalid tree may include lines of the trees after it, so its lines are read again from the second on.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._fresh = enumerate(lines, 1)
        self._again: deque[tuple[int, str]] = deque()
        self._since_start: list[tuple[int, str]] = []
        self._skipping = False
        self.is_second_reading = False
        self.n_trees = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return self

    def __next__(self) -> tuple[int, str]:
        while True:
            self.is_second_reading = bool(self._again)
            numbered = self._again.popleft() if self._again else next(self._fresh)
            if self._skipping and not numbered[1].startswith("("):
                continue
            self._skipping = False
            if numbered[1].strip(_BLANKS):  # a file may have millions of blank lines
                self._since_start.append(numbered)
            return numbered

    def begin_tree(self) -> None:
        """Mark the last line read as the first line of a tree."""
        self.n_trees += 1
        del self._since_start[:-1]

    def resume(self) -> None:
        """Go back to the current tree's second line, and skip lines up to one that begins with a bracket."""
        self._again.extendleft(reversed(self._since_start[1:]))
        self._since_start = []
        self._skipping = True


class _Open:
    """An opening bracket in the text that has not been closed yet."""

    __slots__ = ("at_margin", "children", "label", "line", "parts")

    def __init__(self, label: str, line: int, at_margin: bool) -> None:
        self.at_margin = at_margin
        self.label = label
        self.line = line
        self.children: list[Tree] = []
        self.parts: list[str] = []


def _parse(source: _Source, path: str | Path | None, leaf: Leaf, adapt: Adapt | None) -> Iterator[Tree]:
    stack: list[_Open] = []
    complete: Tree | None = None
    first_line = 0

    def bad(what: str, line: int, hint: str | None = None) -> InputError:
        return InputError(what, path=path, line=line, sentence=source.n_trees or None, hint=hint)

    def unclosed(until: str) -> InputError:
        what = f"unbalanced brackets: the tree that begins here is not closed {until}"
        return bad(what, stack[0].line, "add the missing ')'")

    for number, line in source:
        if not line:
            continue
        if "\0" in line:
            raise bad("a NUL byte in text", number, "this is a binary file or UTF-16; convert it to UTF-8")
        if stack and source.is_second_reading and line.startswith("("):
            raise unclosed(f"before line {number}")
        for token in _TOKEN.finditer(line):
            kind = token.lastindex
            if kind in (_PRETERMINAL, _OPEN):
                if not stack:
                    if complete is not None:
                        yield complete
                        complete = None
                    source.begin_tree()
                    first_line = number
                elif not stack[-1].label and stack[-1].at_margin and len(stack) > 1:
                    raise unclosed(f"before an outer bracket opens in line {stack[-1].line}")
                if kind == _OPEN:
                    stack.append(_Open(token[3], number, not token.start()))
                    continue
                word = leaf([unescaped(token[2])])
                closed = None if word is None else Tree(token[1], word=word)
            elif kind == _CLOSE:
                if not stack:
                    raise bad("unbalanced brackets: a ')' that closes nothing", number, "remove it")
                closed = _close(stack.pop(), leaf, bad, number)
            elif token[5].isspace():
                continue
            elif not stack:
                if complete is not None:
                    yield complete
                raise bad(
                    f"text outside brackets: {token[5]!r}", number, "is this a file of bracketed trees?"
                )
            else:
                top = stack[-1]
                if not top.label and not top.children:
                    top.label = token[5]
                else:
                    top.parts.append(unescaped(token[5]))
                continue
            if closed is None:
                raise bad(f"not a leaf of this treebank: {token[0]!r}", number)
            if stack:
                stack[-1].children += [closed] if closed.label or closed.word is not None else closed.children
            else:
                complete = closed if adapt is None else _adapted(closed, adapt, bad, first_line)
    if stack:
        raise unclosed("by the end of the file")
    if complete is not None:
        yield complete


def _close(bracket: _Open, leaf: Leaf, bad: Callable[..., InputError], line: int) -> Tree:
    if not bracket.parts:
        if not bracket.children and (word := leaf([])) is not None:
            return Tree(bracket.label, word=word)
        if not bracket.children:
            raise bad(f"an empty bracket: ({bracket.label} )", line, "a preterminal needs a word")
        return Tree(bracket.label, bracket.children)
    word = None if bracket.children else leaf(bracket.parts)
    if word is None:
        what = f"a leaf without a preterminal: {bracket.parts[0]!r} under {bracket.label!r}"
        raise bad(what, line, "give the word its own bracket, (TAG word)")
    return Tree(bracket.label, word=word)


def _adapted(tree: Tree, adapt: Adapt, bad: Callable[..., InputError], line: int) -> Tree | None:
    try:
        return adapt(tree)
    except InputError as error:
        raise bad(error.what, line, error.hint) from None
