"""Expressions made of others at the same node: and, or, not, perhaps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from spectralnlp_trees.tregex.columns import Integers
from spectralnlp_trees.tregex.plan import MOST_WAYS, Expression, Extended, Rows, Run, too_many, union, without
from spectralnlp_trees.tregex.relations import Mask


@dataclass(frozen=True, eq=False)
class Combined(Expression):
    """Several expressions at the same node."""

    parts: Sequence[Expression]

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether it depends on what names and variables stand for."""
        return any(part.constrained for part in self.parts)

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether names in it get something to stand for."""
        return any(part.binds for part in self.parts)


class All(Combined):
    """All of them match."""

    @property
    def refers_to(self) -> str | None:
        """The name of the only node at which it can match; None where it is not said."""
        return self.parts[0].refers_to

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """In how many ways it matches at each node."""
        ways = np.ones(len(nodes), np.intp)
        for part in self.parts:
            going = np.flatnonzero(ways)
            factor = part.ways(run, nodes[going])
            if self.constrained:
                factor = np.minimum(factor, 1)
            elif float(ways.max(initial=0)) * float(factor.max(initial=0)) > MOST_WAYS:
                raise too_many()
            ways[going] *= factor
        return ways

    def candidates(self, run: Run) -> Mask | None:
        """The nodes that labels leave over; None for all."""
        masks = [mask for part in self.parts if (mask := part.candidates(run)) is not None]
        return reduce(np.logical_and, masks) if masks else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """The rows at which it matches."""
        places = np.arange(len(rows.node))
        for part in self.parts:
            which, rows = part.extend(run, rows)
            places = places[which]
        return places, rows


class Any(Combined):
    """One of them matches; the ways of all of them are counted."""

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """In how many ways it matches at each node."""
        total = np.zeros(len(nodes), np.intp)
        for part in self.parts:
            total += part.ways(run, nodes)
        return total

    def candidates(self, run: Run) -> Mask | None:
        """The nodes that labels leave over; None for all."""
        masks = [part.candidates(run) for part in self.parts]
        known = [mask for mask in masks if mask is not None]
        return reduce(np.logical_or, known) if len(known) == len(masks) else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """The rows at which it matches."""
        return union([part.extend(run, rows) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Not(Expression):
    """It does not match."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether it depends on what names and variables stand for."""
        return self.part.constrained

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """In how many ways it matches at each node."""
        if self.constrained:  # it may match, whatever the upper bound of what is negated
            return np.ones(len(nodes), np.intp)
        return (self.part.ways(run, nodes) == 0).astype(np.intp)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """The rows at which it matches."""
        if not self.constrained:
            return super().extend(run, rows)
        kept = without(self.part.extend(run, rows)[0], len(rows.node))
        return kept, rows.take(kept)


@dataclass(frozen=True, eq=False)
class Perhaps(Expression):
    """It matches in some ways or, if it does not, in one that leaves its names empty."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether it depends on what names and variables stand for."""
        return self.part.constrained

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether names in it get something to stand for."""
        return self.part.binds

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """In how many ways it matches at each node."""
        return np.maximum(self.part.ways(run, nodes), 1)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """The rows at which it matches."""
        if not (self.constrained or self.binds):
            return super().extend(run, rows)
        matched = self.part.extend(run, rows)
        missed = without(matched[0], len(rows.node))
        return union([matched, (missed, rows.take(missed))])
