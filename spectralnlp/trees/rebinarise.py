"""Trees of a table binarised anew, outward from heads that were found after the table was made.

Head rules are learned from the trees, so trees that have none are logged from the left, which needs no rules
(`Binariser.before_heads`). With the rules the log's table becomes the one of trees that were binarised with
them. A phrase has as many nodes in every binarisation, so the rows of a subtree stay together, and those of a
phrase can be laid out as soon as it is known where they end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.trees.binarise import Binariser, is_intermediate, labels_of
from spectralnlp.trees.rebinarise_kernels import children_of_phrases, lay_out
from spectralnlp.trees.treelog import TreeTable

Ints = NDArray[np.int32]
Production = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Phrases:
    """The phrases of two children or more of a table that is binarised from the left.

    Attributes:
        productions: distinct labels of a phrase and of its children from left to right, in order of first
            occurrence.
        production: int32 (n_phrases,); which one each phrase is.
        row: int32 (n_phrases,); its row, ascending.
        children: int32 (n_children,); rows of the children, phrase by phrase, from left to right.
        bounds: int32 (n_phrases + 1,); where each phrase's children begin.
    """

    productions: tuple[Production, ...]
    production: Ints
    row: Ints
    children: Ints
    bounds: Ints

    @classmethod
    def of(cls, table: TreeTable) -> Phrases:
        """Collect the phrases of a table."""
        inner = np.array([is_intermediate(symbol) for symbol in table.symbols], bool)[table.symbol]
        inner &= table.word < 0
        row = np.flatnonzero((table.right >= 0) & ~inner).astype(np.int32)
        children, bounds = children_of_phrases(row, table.left, table.right, inner)
        labels = [labels_of(symbol) or ("",) for symbol in table.symbols]
        top, bottom = _numbers(each[0] for each in labels), _numbers(each[-1] for each in labels)
        below, above = top.of[table.symbol[children]], bottom.of[table.symbol[row]]
        number: dict[tuple[int, bytes], int] = {}
        starts = bounds.tolist()
        production = [
            number.setdefault((label, below[first:end].tobytes()), len(number))
            for label, first, end in zip(above.tolist(), starts[:-1], starts[1:], strict=True)
        ]
        return cls(
            productions=tuple(
                (bottom.names[label], tuple(top.names[i] for i in np.frombuffer(packed, np.int32)))
                for label, packed in number
            ),
            production=np.array(production, np.int32),
            row=row,
            children=children,
            bounds=bounds,
        )

    def counts(self) -> dict[Production, int]:
        """How often each production occurs."""
        counts = np.bincount(self.production, minlength=len(self.productions))
        return dict(zip(self.productions, counts.tolist(), strict=True))


class _Names(NamedTuple):
    """Distinct names, and int32 numbers of them."""

    names: Sequence[str]
    of: Ints


def _numbers(names: Iterable[str]) -> _Names:
    number: dict[str, int] = {}
    of = [number.setdefault(name, len(number)) for name in names]
    return _Names(list(number), np.array(of, np.int32))


class _Nodes(NamedTuple):
    """Columns of a `TreeTable`, as kernels read and write them."""

    symbol: Ints
    left: Ints
    right: Ints
    parent: Ints
    word: Ints
    start: Ints
    end: Ints
    head: Ints


class _Plan(NamedTuple):
    """Where phrases are, and how they are to be built.

    Attributes:
        phrase: int32 (n_nodes,); the phrase at each row, -1 where there is none.
        children, bounds: as of `Phrases`.
        first: int32 (n_phrases,); the child that binarisation starts from.
        head: int32 (n_phrases,); the child that heads the phrase.
        on_right, on_left: int32 (n_symbols,); the symbol of an intermediate of each phrase's symbol, by the
            side on which its last child was attached.
    """

    phrase: Ints
    children: Ints
    bounds: Ints
    first: Ints
    head: Ints
    on_right: Ints
    on_left: Ints


def rebinarise(table: TreeTable, phrases: Phrases, binariser: Binariser) -> TreeTable:
    """Return the table of the same trees, binarised in another way.

    Args:
        table: trees binarised from the left, without horizontal markovisation.
        phrases: of the table.
        binariser: as the trees were binarised, but for the direction and the head rules.
    """
    find_head = binariser.find_head()
    heads = np.array([find_head(label, children) for label, children in phrases.productions], np.int32)
    n_children = np.diff(phrases.bounds)
    head = heads[phrases.production] if len(heads) else np.empty(0, np.int32)
    start = {"head": head, "left": np.zeros_like(head), "right": (n_children - 1).astype(np.int32)}
    symbols, on_right, on_left = _with_intermediates(table.symbols, binariser)
    phrase = np.full(table.n_nodes, -1, np.int32)
    phrase[phrases.row] = np.arange(len(phrases.row), dtype=np.int32)
    plan = _Plan(
        phrase=phrase,
        children=phrases.children,
        bounds=phrases.bounds,
        first=np.where(n_children == 2, 0, start[binariser.direction]).astype(np.int32),
        head=head,
        on_right=on_right,
        on_left=on_left,
    )
    old = _Nodes(*(getattr(table, name) for name in _Nodes._fields))
    new = _Nodes(*(np.full(table.n_nodes, -1, np.int32) for _ in _Nodes._fields))
    lay_out(old, plan, new)
    used = np.unique(new.symbol)
    order = sorted(used.tolist(), key=lambda s: symbols[s])
    place = np.full(len(symbols), -1, np.int32)
    place[order] = np.arange(len(order))
    columns = new._replace(symbol=place[new.symbol])
    return replace(table, symbols=tuple(symbols[s] for s in order), **columns._asdict())


def _with_intermediates(symbols: Sequence[str], binariser: Binariser) -> tuple[list[str], Ints, Ints]:
    """The symbols and those of all intermediates; and, for each phrase, its two intermediates' numbers."""
    names = {name: number for number, name in enumerate(symbols)}
    sides = []
    for mark in (">", "<") if binariser.mark_direction else ("", ""):
        numbers = []
        for symbol in symbols:
            base, caret, annotation = symbol.partition("^")
            name = f"@{base}{mark}{caret}{annotation}"
            numbers.append(-1 if is_intermediate(symbol) else names.setdefault(name, len(names)))
        sides.append(np.array(numbers, np.int32))
    return list(names), sides[0], sides[1]
