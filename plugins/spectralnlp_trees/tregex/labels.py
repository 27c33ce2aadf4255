"""Descriptions of one node: the labels that it may have, and the parts of them that variables take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from spectralnlp.errors import InputError
from spectralnlp_trees.tregex.time_limit import limited_time

# CPU seconds that an expression may take for so many labels; usual ones take a thousandth of a second.
_SECONDS, _LABELS = 2.0, 1000

# Characters that begin an annotation in a label: NP-SBJ, NP=2, S|VP.
_ANNOTATION = frozenset("-=|#^~_[")


def basic_category(label: str) -> str:
    """The label before its first annotation, ``NP`` of ``NP-SBJ-1``; ``-NONE-`` and ``=`` stay whole.

    Source: the manual of the Stanford parser's ``PennTreebankLanguagePack``.
    """
    opened = label[0] if label and label[0] in _ANNOTATION else ""
    for place in range(1 if opened else 0, len(label)):
        if label[place] == opened:
            opened = ""  # the sign that the label begins with, once more: -LRB-
        elif label[place] in _ANNOTATION:
            return label[:place]
    return label


@dataclass(frozen=True)
class LabelTest:
    """A description of labels.

    Attributes:
        literals: the labels themselves; used where there is no expression.
        expression: found anywhere in the label; None for literals.
        basic: look at the basic category only (``@``).
        ignore_case: as it says, in literals; an expression has it compiled in.
        negated: accept what does not fit.
    """

    literals: frozenset[str] = frozenset()
    expression: re.Pattern[str] | None = None
    basic: bool = False
    ignore_case: bool = False
    negated: bool = False

    def accepts(self, label: str) -> bool:
        """Whether a label fits."""
        if self.expression is not None:
            fits = self.expression.search(self._looked_at(label)) is not None
        else:
            fits = self._looked_at(label) in self.literals
        return fits != self.negated

    def fits(self, labels: Iterable[str]) -> Iterator[bool]:
        """Whether each of many labels fits.

        Raises:
            InputError: an expression takes too long for one; told in the main thread, and not on Windows.
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
        """The text of groups of the expression in a label that fits; empty for a group that took no part."""
        found = None if self.expression is None else self.expression.search(self._looked_at(label))
        return ["" if found is None else found[number] or "" for number in numbers]

    def _looked_at(self, label: str) -> str:
        label = basic_category(label) if self.basic else label
        return label.casefold() if self.ignore_case and self.expression is None else label
