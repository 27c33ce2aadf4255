"""Conjunction, disjunction, negation and optional match of a search pattern's conditions on a node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from spectralnlp_trees.tregex.columns import Integers
from spectralnlp_trees.tregex.plan import MAX_WAYS, Expression, Extended, Rows, Run, too_many, union, without
from spectralnlp_trees.tregex.relations import Mask


@dataclass(frozen=True, eq=False)
class Combined(Expression):
    """Base class of combinations of several conditions on the same node, such as a conjunction."""

    parts: Sequence[Expression]

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values to which names and variables of the pattern are bound."""
        return any(part.constrained for part in self.parts)

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether a match of this condition binds a node or a text to a name of the pattern."""
        return any(part.binds for part in self.parts)


class All(Combined):
    """Conjunction: matches a node if all parts match; the parts' numbers of ways to match are multiplied."""

    @property
    def refers_to(self) -> str | None:
        """Name of the node that this condition refers to (``=name``); None if it refers to none."""
        return self.parts[0].refers_to

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition of a pattern matches at each node."""
        ways = np.ones(len(nodes), np.intp)
        for part in self.parts:
            going = np.flatnonzero(ways)
            factor = part.ways(run, nodes[going])
            if self.constrained:
                factor = np.minimum(factor, 1)
            elif float(ways.max(initial=0)) * float(factor.max(initial=0)) > MAX_WAYS:
                raise too_many()
            ways[going] *= factor
        return ways

    def candidates(self, run: Run) -> Mask | None:
        """Return a mask of the nodes whose labels permit this condition to match; None for all nodes."""
        masks = [mask for part in self.parts if (mask := part.candidates(run)) is not None]
        return reduce(np.logical_and, masks) if masks else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Keep the rows (partial matches) that meet this condition; return their indices and the new rows."""
        places = np.arange(len(rows.node))
        for part in self.parts:
            which, rows = part.extend(run, rows)
            places = places[which]
        return places, rows


class Any(Combined):
    """Disjunction: matches a node if any part matches; the parts' numbers of ways to match are added."""

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition of a pattern matches at each node."""
        total = np.zeros(len(nodes), np.intp)
        for part in self.parts:
            total += part.ways(run, nodes)
        return total

    def candidates(self, run: Run) -> Mask | None:
        """Return a mask of the nodes whose labels permit this condition to match; None for all nodes."""
        masks = [part.candidates(run) for part in self.parts]
        known = [mask for mask in masks if mask is not None]
        return reduce(np.logical_or, known) if len(known) == len(masks) else None

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Keep the rows (partial matches) that meet this condition; return their indices and the new rows."""
        return union([part.extend(run, rows) for part in self.parts])


@dataclass(frozen=True, eq=False)
class Not(Expression):
    """Negation of a condition: matches a node if the inner condition does not match the node."""

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values to which names and variables of the pattern are bound."""
        return self.part.constrained

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition of a pattern matches at each node."""
        if self.constrained:  # the inner condition need not match where its count is not 0
            return np.ones(len(nodes), np.intp)
        return (self.part.ways(run, nodes) == 0).astype(np.intp)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Keep the rows (partial matches) that meet this condition; return their indices and the new rows."""
        if not self.constrained:
            return super().extend(run, rows)
        kept = without(self.part.extend(run, rows)[0], len(rows.node))
        return kept, rows.take(kept)


@dataclass(frozen=True, eq=False)
class OptionalCondition(Expression):
    """Optional condition (``?``): matches every node, whether or not the inner condition matches.

    If the inner condition does not match, the node matches in one way, and the inner names stay unbound.
    """

    part: Expression

    @cached_property
    def constrained(self) -> bool:  # type: ignore[override]
        """Whether a match depends on the values to which names and variables of the pattern are bound."""
        return self.part.constrained

    @cached_property
    def binds(self) -> bool:  # type: ignore[override]
        """Whether a match of this condition binds a node or a text to a name of the pattern."""
        return self.part.binds

    def ways(self, run: Run, nodes: Integers) -> Integers:
        """Return the number of ways in which this condition of a pattern matches at each node."""
        return np.maximum(self.part.ways(run, nodes), 1)

    def extend(self, run: Run, rows: Rows) -> Extended:
        """Keep the rows (partial matches) that meet this condition; return their indices and the new rows."""
        if not (self.constrained or self.binds):
            return super().extend(run, rows)
        matched = self.part.extend(run, rows)
        missed = without(matched[0], len(rows.node))
        return union([matched, (missed, rows.take(missed))])
