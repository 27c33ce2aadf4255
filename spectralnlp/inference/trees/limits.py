"""Translate bracket constraints into the symbols and unary rules that a tree may have over each span.

A span has a bottom symbol and perhaps one unary rule above it. The symbol and the rule stand for zero or more
phrase labels (zero for tags and for intermediate symbols of binarisation). A required bracket demands that
its label is among these labels, and that no other span crosses its span; every binary tree without a crossing
span contains the required span. A forbidden bracket demands that its label is not among the span's labels or,
if it names no label, that there are none. Constraints thus become two tables for each span that they mention,
one of allowed bottom symbols and one of allowed unary rules. A chart that obeys the tables holds exactly the
trees that meet the constraints.
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
        row: int32 (n_cells,); each cell's row in the tables below; FREE (-1) if everything is allowed.
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
        required: int32 (n_required, 2); start and end of the spans that no other span may cross.
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
            start, end: int32 (n_spans,); first token of each span, and the token after its last; all spans
                are distinct.

        Returns:
            `CellLimits` with ``row`` for the given spans.
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
        """Return the cells (spans) that the parser considers under these limits; see `nested_cells`.

        Args:
            cells: the cells to consider without limits.
        """
        return cells if not len(self.required) else nested_cells(cells, self.required)


def nested_cells(cells: Cells, required: Ints) -> Cells:
    """Return the cells (spans) for the parser to consider when some brackets are required.

    Cells that cross a required bracket are removed. If ``cells`` are not all spans of the sentence, the
    required spans are added, each with the spans of its right-branching and left-branching derivations.

    Args:
        cells: the cells to consider without required brackets.
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
    """Return all prefixes and suffixes of required spans, the spans themselves included.

    A chart with these spans can derive each required span by left- or right-branching binary rules.

    Args:
        required: int32 (n_required, 2); start and end of spans.

    Returns:
        The starts and the ends of the prefixes and suffixes, int32 (n_spans,) each.
    """
    starts, ends = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for first, last in required.tolist():
        inner = np.arange(first + 1, last, dtype=np.int32)
        starts += [np.full(len(inner) + 1, first, np.int32), inner]
        ends += [np.append(inner, np.int32(last)), np.full(len(inner), last, np.int32)]
    return np.concatenate(starts), np.concatenate(ends)


def crosses(start: Ints, end: Ints, required: Ints) -> Flags:
    """Return which spans cross a required span, bool (n_spans,).

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
    """The phrase labels for which each symbol, and each unary rule with the symbol below it, stands.

    A symbol can stand for several labels, because binarisation collapses unary chains into one symbol.

    Attributes:
        rows: label → index of its row in the next two tables.
        of_bottom: bool (n_labels, n_symbols); whether the symbol stands for the label.
        of_unary: bool (n_labels, n_unary); whether the rule, or the symbol below it, stands for the label.
        child: int32 (n_unary,); the symbol below each unary rule.
    """

    rows: Mapping[str, int]
    of_bottom: Flags
    of_unary: Flags
    child: Ints

    @classmethod
    def of_grammar(cls, grammar: LatentGrammar, chains: Chains) -> LabelTable:
        """Tabulate which phrase labels each symbol and each unary rule of a grammar stands for.

        Args:
            grammar: any grammar.
            chains: the full unary chain that a unary rule stands for, for each pair (top, bottom) of labels.
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
        """Return a table whose columns are the labels, and pairs of labels, that several grammars share.

        Args:
            shared: the labels, used as symbols, and the pairs of labels, used as unary rules.
            chains: the full unary chain that a pair (top, bottom) of labels stands for.
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
        """Translate constraints to the symbols and unary rules that each constrained span may have."""
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
        """Return which symbols or unary rules stand for a label, bool (n_columns,).

        Args:
            table: `of_bottom` or `of_unary`; its columns are the symbols or unary rules.
            label: the label; None for any label.
        """
        if label is None:
            return np.asarray(table.any(axis=0))
        return table[self.rows[label]] if label in self.rows else np.zeros(table.shape[1], bool)


def limits_of(limits: SpanLimits | None, start: Ints, end: Ints) -> CellLimits:
    """Return which symbols and unary rules are allowed over given spans.

    Args:
        limits: limits of the sentence's spans; None if everything is allowed.
        start, end: int32 (n_spans,); distinct spans, as for `SpanLimits.of_spans`.
    """
    if limits is not None:
        return limits.of_spans(start, end)
    return CellLimits(np.full(len(start), FREE, np.int32), _NO_TABLE, _NO_TABLE, _NO_TABLE)


def _above(chains: Chains, top: tuple[str, ...], below: tuple[str, ...]) -> Sequence[str]:
    """Return the labels of the unary chain that a rule stands for, without the label at its bottom.

    Args:
        chains: the full unary chain for a pair (top, bottom) of labels.
        top: the lowest label of the rule's parent; empty if the parent has no label.
        below: the highest label of the rule's child; empty if the child has no label.
    """
    if not top or not below:
        return top
    return chains.get((top[0], below[0]), (top[0], below[0]))[:-1]


def _span_array(spans: Sequence[tuple[int, int]]) -> Ints:
    return np.array(spans, np.int32).reshape(-1, 2)
