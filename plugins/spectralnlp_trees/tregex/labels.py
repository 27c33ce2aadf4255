"""Tests of node labels in search patterns, by literals or regular expressions."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spectralnlp.errors import InputError
from spectralnlp_trees.tregex.time_limit import limited_time

# Limit of CPU seconds for this many labels; a typical expression needs a millisecond.
_SECONDS, _LABELS = 2.0, 1000

# Characters that begin an annotation in a label: NP-SBJ, NP=2, S|VP.
_ANNOTATION = frozenset("-=|#^~_[")


def basic_category(label: str) -> str:
    """Return a label up to its first annotation: ``NP`` for ``NP-SBJ-1``; ``-NONE-`` and ``=`` stay whole.

    Source: the manual of the Stanford parser's ``PennTreebankLanguagePack``.
    """
    opened = label[0] if label and label[0] in _ANNOTATION else ""
    for place in range(1 if opened else 0, len(label)):
        if label[place] == opened:
            opened = ""  # the initial sign occurs again, as in -LRB-
        elif label[place] in _ANNOTATION:
            return label[:place]
    return label


def compile_expression(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    """Compile a regular expression.

    Raises:
        re.error: the expression is invalid, or has one of Java's sets of sets, such as ``[a-z&&[^b]]``, which
            Python would read otherwise.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # of sets of sets
            return re.compile(text, flags)
    except (FutureWarning, OverflowError, RecursionError, ValueError) as error:  # a ValueError of flags
        raise re.error(str(error)) from None


@dataclass(frozen=True)
class LabelTest:
    """Test of a label against literals or a regular expression.

    Attributes:
        literals: accepted labels; used if there is no expression.
        expression: regular expression that must match somewhere in the label; None for literals.
        basic: whether to test only the basic category (``@``), the label up to its first annotation.
        ignore_case: whether to ignore case in literals; an expression has its own flag.
        negated: whether to accept the labels that do not match.
    """

    literals: frozenset[str] = frozenset()
    expression: re.Pattern[str] | None = None
    basic: bool = False
    ignore_case: bool = False
    negated: bool = False

    def accepts(self, label: str) -> bool:
        """Return whether a label passes this test."""
        if self.expression is not None:
            fits = self.expression.search(self._looked_at(label)) is not None
        else:
            fits = self._looked_at(label) in self.literals
        return fits != self.negated

    def fits(self, labels: Iterable[str]) -> Iterator[bool]:
        """Yield, for each label, whether it passes this test.

        Raises:
            InputError: the expression takes too long for a label (main thread of POSIX systems only).
        """
        if self.expression is None:
            yield from map(self.accepts, labels)
            return
        with limited_time(_SECONDS) as begin:
            for number, label in enumerate(labels):
                if number % _LABELS == 0:
                    begin()
                try:
                    yield self.accepts(label)
                except TimeoutError:
                    what = f"/{self.expression.pattern}/ takes too long for the label {label[:40]!r}"
                    hint = "write it without a repetition inside of a repetition"
                    raise InputError(what, hint=hint) from None

    def groups(self, label: str, numbers: Sequence[int]) -> list[str]:
        """Return the texts that groups of the regular expression match in a label; empty for unused groups.

        Without an expression, each text is the whole label, or its basic category if ``basic`` is set.

        Args:
            label: a label that passes the test.
            numbers: numbers of the groups.
        """
        if self.expression is None:
            return [basic_category(label) if self.basic else label] * len(numbers)
        matched = self.expression.search(self._looked_at(label))
        return ["" if matched is None else matched[number] or "" for number in numbers]

    def _looked_at(self, label: str) -> str:
        label = basic_category(label) if self.basic else label
        return label.casefold() if self.ignore_case and self.expression is None else label
