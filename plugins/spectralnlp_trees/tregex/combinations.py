"""Combinations of conditions on one node: conjunction, disjunction, negation, optional condition."""

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
    """Base class of combinations of several conditions on the same node."""

    parts: Sequence[Expression]

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values of names and variables."""
        return any(part.constrained for part in self.parts)

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether the condition binds names."""
        return any(part.binds for part in self.parts)


class All(Combined):
    """Conjunction: matches if all conditions match."""

    @property
    def refers_to(self) -> str | None:
        """Name whose node is the only possible match; None if there is no such name."""
        return self.parts[0].refers_to

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Count the ways in which the condition matches at each node."""
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
        """Return the nodes that the labels permit; None for all nodes."""
        masks = [mask for part in self.parts if (mask := part.candidates(run)) is not None]
        return reduce(np.logical_and, masks) if masks else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Return the partial matches that meet the condition, extended by the nodes that it binds."""
        places = np.arange(len(rows.node))
        for part in self.parts:
            which, rows = part.extend(run, rows)
            places = places[which]
        return places, rows


class Any(Combined):
    """Disjunction: matches if any condition matches; the ways of all conditions add up."""

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Count the ways in which the condition matches at each node."""
        total = np.zeros(len(nodes), np.intp)
        for part in self.parts:
            total += part.ways(run, nodes)
        return total

    def candidates(self, run: Run) -> Mask | None:
        """Return the nodes that the labels permit; None for all nodes."""
        masks = [part.candidates(run) for part in self.parts]
        known = [mask for mask in masks if mask is not None]
        return reduce(np.logical_or, known) if len(known) == len(masks) else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Return the rows at which the condition matches."""
        return union([part.extend(run, rows) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Not(Expression):
    """Negation: matches a node if the inner condition does not."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values of names and variables."""
        return self.part.constrained

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Count the ways in which the condition matches at each node."""
        if self.constrained:  # the inner count is only an upper bound, so a match is possible anywhere
            return np.ones(len(nodes), np.intp)
        return (self.part.ways(run, nodes) == 0).astype(np.intp)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Return the rows at which the condition matches."""
        if not self.constrained:
            return super().extend(run, rows)
        kept = without(self.part.extend(run, rows)[0], len(rows.node))
        return kept, rows.take(kept)


@dataclass(frozen=True, eq=False)
class Perhaps(Expression):
    """Optional condition: matches as the inner condition does or, if that fails, once with unbound names."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values of names and variables."""
        return self.part.constrained

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether the condition binds names."""
        return self.part.binds

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Count the ways in which the condition matches at each node."""
        return np.maximum(self.part.ways(run, nodes), 1)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Return the rows at which the condition matches."""
        if not (self.constrained or self.binds):
            return super().extend(run, rows)
        matched = self.part.extend(run, rows)
        missed = without(matched[0], len(rows.node))
        return union([matched, (missed, rows.take(missed))])
