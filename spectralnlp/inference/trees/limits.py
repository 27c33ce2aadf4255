"""Translate bracket constraints into the symbols and unary rules that a grammar may put over each span.

A span has a bottom symbol and perhaps one unary rule above it. Each stands for zero or more phrase labels
(zero for tags and for intermediate symbols of binarisation). A required bracket demands that its label is
among these and that no other span crosses it; a binary tree without crossing spans always has the span
itself. A forbidden bracket demands that its label (or any label) is not among them. Constraints thus become
two tables for each span that they mention, of allowed bottom symbols and of allowed unary rules. A chart that
obeys the tables holds exactly the trees that meet the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.trees.cells import Cells, cells_of
from spectralnlp.inference.trees.labels import NO_LABEL, SharedLabels
from spectralnlp.parameters import Ints, LatentGrammar
from spectralnlp.text.constraints import Constraints
from spectralnlp.trees import is_intermediate, labels_of

# The row of an unconstrained cell in `CellLimits`.
FREE = -1

Flags = NDArray[np.bool_]
Chains = Mapping[tuple[str, str], Sequence[str]]

_NO_TABLE: Flags = np.empty((0, 0), bool)


class CellLimits(NamedTuple):
    """The symbols and unary rules allowed in chart cells (spans), as arrays for kernels.

    Attributes:
        row: int32 (n_cells,); each cell's row in the tables, or FREE.
        alone: bool (n_rows, n_symbols); bottom symbols allowed without a unary rule above.
        under: bool (n_rows, n_unary); allowed unary rules.
        bottom: bool (n_rows, n_symbols); bottom symbols allowed alone or below an allowed unary rule.
    """

    row: Ints
    alone: Flags
    under: Flags
    bottom: Flags


@dataclass(frozen=True)
class SpanLimits:
    """The symbols and unary rules allowed over the spans of one sentence.

    Attributes:
        required: int32 (n_required, 2); start and end of the spans that no other may cross.
        spans: int32 (n_limited, 2); start and end of the spans that have a row in the tables, sorted.
        alone, under, bottom: the tables; see `CellLimits`.
    """

    required: Ints
    spans: Ints
    alone: Flags
    under: Flags
    bottom: Flags

    def of_spans(self, start: Ints, end: Ints) -> CellLimits:
        """Return which symbols and unary rules are allowed over each of the given spans.

        Args:
            start, end: int32 (n_spans,); distinct spans.
        """
        row = np.full(len(start), FREE, np.int32)
        if len(self.spans):
            size = 1 + max(int(end.max(initial=0)), int(self.spans.max()))
            wanted = self.spans[:, 0].astype(np.int64) * size + self.spans[:, 1]
            codes = start.astype(np.int64) * size + end
            order = np.argsort(codes, kind="stable")
            place = np.searchsorted(codes, wanted, sorter=order)
            there = place < len(codes)
            there[there] = codes[order[place[there]]] == wanted[there]
            row[order[place[there]]] = np.flatnonzero(there)
        return CellLimits(row, self.alone, self.under, self.bottom)

    def is_required(self, start: Ints, end: Ints) -> Flags:
        """Return which of the given spans are required, bool (n_spans,); see `of_spans` for the arguments."""
        wanted = set(map(tuple, self.required.tolist()))
        return np.array([span in wanted for span in zip(start.tolist(), end.tolist(), strict=True)], bool)

    def open(self, cells: Cells) -> Cells:
        """Return the cells (spans) to consider if none may cross a required bracket; see `nested_cells`."""
        return cells if not len(self.required) else nested_cells(cells, self.required)


def nested_cells(cells: Cells, required: Ints) -> Cells:
    """Return the open cells (spans to consider) without those that cross a required bracket.

    If not all spans are open, the required ones are opened too, with the spans for a right-branching and a
    left-branching derivation of each.

    Args:
        cells: the open cells of the sentence.
        required: int32 (n_required, 2); start and end of spans that do not cross each other.
    """
    n = cells.n_tokens
    start, end = cells.start, cells.end
    if len(start) < n * (n + 1) // 2:
        more_start, more_end = building_blocks(required)
        codes = np.unique(
            np.concatenate([start, more_start]).astype(np.int64) * (n + 1) + np.concatenate([end, more_end])
        )
        start, end = (codes // (n + 1)).astype(np.int32), (codes % (n + 1)).astype(np.int32)
    keep = ~crosses(start, end, required)
    return cells_of(n, start[keep], end[keep])[0]


def building_blocks(required: Ints) -> tuple[Ints, Ints]:
    """Return required spans, each with some spans inside it, so that binary rules can always derive it.

    Args:
        required: int32 (n_required, 2); start and end of spans.

    Returns:
        Starts and ends, int32 (n_spans,) each; these are the prefixes and suffixes of the required spans,
        which allow left- and right-branching derivations.
    """
    starts, ends = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for first, last in required.tolist():
        inner = np.arange(first + 1, last, dtype=np.int32)
        starts += [np.full(len(inner) + 1, first, np.int32), inner]
        ends += [np.append(inner, np.int32(last)), np.full(len(inner), last, np.int32)]
    return np.concatenate(starts), np.concatenate(ends)


def crosses(start: Ints, end: Ints, required: Ints) -> Flags:
    """Return which spans cross a required one, bool (n_spans,).

    Args:
        start, end: int32 (n_spans,); the spans.
        required: int32 (n_required, 2); start and end of the required spans.
    """
    found = np.zeros(len(start), bool)
    for first, last in required.tolist():
        found |= (start < first) & (first < end) & (end < last)
        found |= (first < start) & (start < last) & (last < end)
    return found


@dataclass(frozen=True)
class LabelTable:
    """The phrase labels that a span has if it has a symbol, or a unary rule with its child.

    Attributes:
        rows: the row of each label in the two tables.
        of_bottom: bool (n_labels, n_symbols); the labels of each symbol.
        of_unary: bool (n_labels, n_unary); the labels of each unary rule with its child.
        child: int32 (n_unary,); the symbol below each unary rule.
    """

    rows: Mapping[str, int]
    of_bottom: Flags
    of_unary: Flags
    child: Ints

    @classmethod
    def of_grammar(cls, grammar: LatentGrammar, chains: Chains) -> LabelTable:
        """Return the table of the phrase labels that a grammar's symbols and unary rules put over spans.

        Args:
            grammar: any grammar.
            chains: the full unary chain that a unary rule stands for, as `restore` takes it.
        """
        of_symbol = [() if is_intermediate(name) else labels_of(name) for name in grammar.symbols]
        bottom = [
            labels[:-1] if is_tag else labels
            for labels, is_tag in zip(of_symbol, grammar.is_tag.tolist(), strict=True)
        ]
        unary = [
            (*of_symbol[a][:-1], *_above(chains, of_symbol[a][-1:], of_symbol[b][:1]), *bottom[b])
            for a, b in grammar.unary_rules.tolist()
        ]
        return cls._of(bottom, unary, grammar.unary_rules[:, 1])

    @classmethod
    def of_labels(cls, shared: SharedLabels, chains: Chains) -> LabelTable:
        """Return the table for the labels and pairs of labels that several grammars share.

        The labels take the place of symbols, and the pairs that of unary rules; see `of_grammar`.
        """
        names, pairs = shared.names, shared.labels.pairs
        bottom = [
            () if is_tag else (name,)
            for name, is_tag in zip(names, shared.labels.is_tag.tolist(), strict=True)
        ]
        unary = [
            (*_above(chains, (names[top],), (names[below],)), *bottom[below])
            if NO_LABEL not in (top, below)
            else ()
            for top, below in pairs.tolist()
        ]
        return cls._of(bottom, unary, pairs[:, 1])

    @classmethod
    def _of(cls, bottom: Sequence[Sequence[str]], unary: Sequence[Sequence[str]], child: Ints) -> LabelTable:
        rows: dict[str, int] = {}
        for labels in (*bottom, *unary):
            for label in labels:
                rows.setdefault(label, len(rows))

        def table(lists: Sequence[Sequence[str]]) -> Flags:
            found = np.zeros((len(rows), len(lists)), bool)
            for column, labels in enumerate(lists):
                found[[rows[label] for label in labels], column] = True
            return found

        return cls(rows, table(bottom), table(unary), child)

    def limits(self, constraints: Constraints) -> SpanLimits:
        """Return the limits that the required and forbidden brackets of constraints impose."""
        spans = sorted({each.span for each in (*constraints.brackets, *constraints.forbidden)})
        row = {span: number for number, span in enumerate(spans)}
        alone = np.ones((len(spans), self.of_bottom.shape[1]), bool)
        under = np.ones((len(spans), self.of_unary.shape[1]), bool)
        for brackets, wanted in ((constraints.brackets, True), (constraints.forbidden, False)):
            for each in brackets:
                alone[row[each.span]] &= self._has(self.of_bottom, each.label) == wanted
                under[row[each.span]] &= self._has(self.of_unary, each.label) == wanted
        bottom = alone.copy()
        for number, allowed in enumerate(under):
            bottom[number, self.child[allowed]] = True
        required = sorted({each.span for each in constraints.brackets})
        return SpanLimits(_span_array(required), _span_array(spans), alone, under, bottom)

    def _has(self, table: Flags, label: str | None) -> Flags:
        """Return a mask of a table's columns that have a label, or any label if ``label`` is None."""
        if label is None:
            return np.asarray(table.any(axis=0))
        return table[self.rows[label]] if label in self.rows else np.zeros(table.shape[1], bool)


def limits_of(limits: SpanLimits | None, start: Ints, end: Ints) -> CellLimits:
    """Return which symbols and unary rules are allowed over given spans; any if ``limits`` is None.

    Args:
        limits: limits of the sentence's spans.
        start, end: int32 (n_spans,); distinct spans.
    """
    if limits is not None:
        return limits.of_spans(start, end)
    return CellLimits(np.full(len(start), FREE, np.int32), _NO_TABLE, _NO_TABLE, _NO_TABLE)


def _above(chains: Chains, top: tuple[str, ...], below: tuple[str, ...]) -> Sequence[str]:
    """Return the labels that a unary rule puts over a span, without those of its child.

    Args:
        chains: the full unary chain for a pair (top, bottom) of labels.
        top, below: labels of the rule's parent and of its child.
    """
    if not top or not below:
        return top
    return chains.get((top[0], below[0]), (top[0], below[0]))[:-1]


def _span_array(spans: Sequence[tuple[int, int]]) -> Ints:
    return np.array(spans, np.int32).reshape(-1, 2)
