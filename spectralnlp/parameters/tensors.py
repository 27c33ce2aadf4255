"""Tensors of rules, dense or sparse, and how model folders hold them.

The tensor of a rule that was seen n times has ranks of at most n or so: dense tensors are stored as a small
core and a basis for each axis (Tucker 1966; De Lathauwer et al. 2000), wherever that is smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.linalg import tucker
from spectralnlp.parameters.arrays import Floats, Ints, Offsets, offsets_of
from spectralnlp.parameters.expansion import Factors, expand_rules
from spectralnlp.runtime import trim_memory
from spectralnlp.storage import Arrays, StoredArrays, arrays_of, float_array, int_array, offset_array

# Relative error, in the Frobenius norm, that the storage of a tensor may make.
TOLERANCE = 1e-3

# Numbers that a tensor must have for a low-rank form to be tried.
WORTHWHILE = 64

# Tensors of one shape that are brought into a low-rank form at a time.
_TOGETHER = 64

# Arrays of the stored form of dense tensors; ranks are 0 where a tensor is stored as it is.
_RANKS = int_array("n_rules", "order", dtype="int16")
_FACTORS = float_array("n_numbers", scaled=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseTensors:
    """One dense tensor a rule, row-major, laid end to end.

    Attributes:
        offsets: int64 (n_rules + 1,); tensor r is ``values[offsets[r]:offsets[r + 1]]``.
        values: of shape (m_a, m_b, m_c) for a → b c and (m_a, m_b) for a → b; float64 as they are learned,
            float32 from a model folder.
    """

    offsets: Offsets
    values: NDArray[Any]

    __repr__ = one_line

    def to_arrays(self, shapes: Ints) -> Arrays:
        """``ranks``, int16, and ``values``, float32: cores and bases laid end to end.

        Args:
            shapes: int32 (n_rules, order); of each tensor.
        """
        ranks: NDArray[np.int16] = np.zeros(shapes.shape, np.int16)
        tensors = [self.values[first:last] for first, last in pairwise(self.offsets.tolist())]
        parts = [[tensor] for tensor in tensors]
        kinds, kind = np.unique(shapes, axis=0, return_inverse=True)
        for number, shape in enumerate(kinds):
            rules = np.flatnonzero(kind.reshape(-1) == number) if shape.prod() >= WORTHWHILE else ()
            for first in range(0, len(rules), _TOGETHER):
                some = rules[first : first + _TOGETHER]
                same = np.stack([tensors[rule] for rule in some]).reshape(-1, *shape)
                for rule, (core, bases) in zip(some, tucker(same, tolerance=TOLERANCE), strict=True):
                    if core.size + sum(basis.size for basis in bases) < tensors[rule].size:
                        ranks[rule] = core.shape
                        # Copies, for what is kept of one tensor would hold all of them.
                        parts[rule] = [part.astype(np.float32).ravel() for part in (core, *bases)]
                trim_memory()
        flat = (part.astype(np.float32, copy=False) for each in parts for part in each)
        return {"ranks": ranks, "values": np.concatenate([np.empty(0, np.float32), *flat])}

    def extended(self, factors: Floats, shapes: Ints, new: Sequence[Floats]) -> DenseTensors:
        """Return these tensors, each times its factor, with new ones between them.

        Args:
            factors: float64 (n_rules,); of the old rules in their order, and NaN for new ones.
            shapes: int32 (n_rules, order); of all.
            new: the numbers of the new tensors.
        """
        is_old = ~np.isnan(factors)
        scaled = self.values * np.repeat(factors[is_old].astype(self.values.dtype), np.diff(self.offsets))
        values = _between(scaled, self.offsets, is_old, new)
        return DenseTensors(offsets=offsets_of(shapes.prod(axis=1, dtype=np.int64)), values=values)

    def with_rules(self, rules: Ints) -> NDArray[Any]:
        """Return ``values``, in which the tensors of these rules can be read."""
        return self.values

    @property
    def expanded(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """``values``, and of which rules they are there: of all."""
        return self.values, np.ones(len(self.offsets) - 1, bool)

    def stored(self, shapes: Ints) -> Factors:
        """No cores and bases, but the shapes of the tensors."""
        return Factors(
            shapes=shapes,
            ranks=np.zeros(shapes.shape, np.int16),
            places=np.zeros(len(shapes) + 1, np.int64),
            numbers=np.empty(0, np.float32),
            scale=1.0,
            signed=True,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class FactoredTensors:
    """Dense tensors of a model folder, each multiplied out when a sentence first needs its rule.

    Attributes:
        offsets: int64 (n_rules + 1,); as in `DenseTensors`.
        shapes: int32 (n_rules, order); of each tensor.
        ranks: int16 (n_rules, order); 0 where a tensor is stored as it is.
        factors: cores and bases laid end to end, as of `DenseTensors.to_arrays`; of the dtype of the folder.
        scale: factor of these numbers.
        signed: whether negative numbers were among them: a low rank makes tiny ones of zeros.
    """

    offsets: Offsets
    shapes: Ints
    ranks: NDArray[np.int16]
    factors: NDArray[Any]
    scale: float
    signed: bool

    __repr__ = one_line

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, shapes: Ints, *, signed: bool) -> FactoredTensors:
        """The tensors that gave these arrays of a model folder, nearly.

        Args:
            arrays: of `DenseTensors.to_arrays`.
            shapes: int32 (n_rules, order); of each tensor.
            signed: see the attribute.

        Raises:
            ModelError: an array is not as it must be.
        """
        arrays = arrays.part(n_rules=shapes.shape[0], order=shapes.shape[1])
        ranks, (factors, scale) = arrays.take("ranks", _RANKS), arrays.take_narrow("values", _FACTORS)
        is_factored = ranks > 0
        if (is_factored != is_factored[:, :1]).any() or (ranks > shapes).any():
            raise arrays.error("ranks", "holds ranks that no tensor of its rule has")
        arrays.check_expansion("values", shapes.astype(np.float64).prod(axis=1).sum(), len(factors))
        offsets = offsets_of(shapes.prod(axis=1, dtype=np.int64))
        tensors = cls(
            offsets=offsets, shapes=shapes, ranks=ranks, factors=factors, scale=scale, signed=signed
        )
        if len(factors) != (stored := tensors._places[-1]):
            raise arrays.error("values", f"holds {len(factors)} numbers, where the ranks ask for {stored}")
        return tensors

    def extended(self, factors: Floats, shapes: Ints, new: Sequence[Floats]) -> FactoredTensors:
        """Return these tensors, each times its factor, with new ones between them; see `DenseTensors`.

        Only cores are multiplied; new tensors are stored as they are.
        """
        is_old = ~np.isnan(factors)
        r, sizes = self.ranks.astype(np.int64), np.diff(self._places)
        cores = np.where(r[:, 0] > 0, r.prod(axis=1), sizes)
        parts = np.stack([cores, sizes - cores], axis=1).ravel()
        by = np.stack([factors[is_old], np.ones(len(cores))], axis=1).ravel()
        numbers = (self.factors * (self.scale * np.repeat(by, parts))).astype(np.float32)
        ranks = np.zeros(shapes.shape, np.int16)
        ranks[is_old] = self.ranks
        return FactoredTensors(
            offsets=offsets_of(shapes.prod(axis=1, dtype=np.int64)),
            shapes=shapes,
            ranks=ranks,
            factors=_between(numbers, self._places, is_old, new),
            scale=1.0,
            signed=self.signed,
        )

    @property
    def values(self) -> NDArray[Any]:
        """All tensors, as `DenseTensors` has them; float32, for they are most of a parser's memory."""
        return self.with_rules(np.arange(len(self.shapes), dtype=np.int32))

    def with_rules(self, rules: Ints) -> NDArray[Any]:
        """Return the numbers of all tensors, of which those of these rules can be read.

        Threads may ask at the same time: they write the same numbers.
        """
        numbers, is_there = self.expanded
        expand_rules(self._stored, rules.astype(np.int32), self.offsets, is_there, numbers)
        return numbers

    def to_arrays(self, shapes: Ints) -> Arrays:
        """The arrays of `DenseTensors.to_arrays`, with the factors that there are."""
        return {"ranks": self.ranks, "values": (self.factors * self.scale).astype(np.float32)}

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields: what was multiplied out stays behind when sent to another process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def expanded(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """The numbers of all tensors, and of which rules they are there already; both are written to."""
        # Pages of memory that nobody writes to are never given out.
        return np.empty(self.offsets[-1], np.float32), np.zeros(len(self.shapes), bool)

    def stored(self, shapes: Ints) -> Factors:
        """Cores and bases, as kernels take them."""
        return self._stored

    @cached_property
    def _stored(self) -> Factors:
        # Copies, for kernels are compiled anew for arrays that may not be written to.
        return Factors(
            shapes=self.shapes,
            ranks=self.ranks.copy(),
            places=self._places,
            numbers=self.factors.astype(np.float32),
            scale=float(self.scale),
            signed=self.signed,
        )

    @cached_property
    def _places(self) -> Offsets:
        """int64 (n_rules + 1,): where the factors of each tensor lie."""
        large, r = self.shapes.astype(np.int64), self.ranks.astype(np.int64)
        sizes = np.where(r[:, 0] > 0, r.prod(axis=1) + (large * r).sum(axis=1), large.prod(axis=1))
        return offsets_of(sizes)

    def numbers_of(self, stored: NDArray[Any]) -> NDArray[np.float32]:
        """Return numbers of tensors that are stored as they are."""
        numbers = (stored.astype(np.float64) * self.scale).astype(np.float32)
        return numbers if self.signed else np.maximum(numbers, np.float32(0.0))


def _between(
    numbers: NDArray[Any], places: Offsets, is_old: NDArray[np.bool_], new: Sequence[Floats]
) -> NDArray[Any]:
    """Numbers of old rules, with those of new ones where ``is_old`` is not."""
    first, *runs = np.split(numbers, places[np.cumsum(is_old)[~is_old]])
    pairs = zip(new, runs, strict=True)
    return np.concatenate([first, *(part for each, run in pairs for part in (each.astype(first.dtype), run))])


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseTensors:
    """The non-zero entries of each rule's tensor.

    Attributes:
        offsets: int64 (n_rules + 1,); the entries of rule r are rows ``offsets[r]:offsets[r + 1]``.
        states: int32 (n_entries, 3) for a → b c, (n_entries, 2) for a → b.
        values: float64 (n_entries,).
    """

    offsets: Annotated[Offsets, offset_array("n_rules + 1", into="n_entries")]
    states: Annotated[Ints, int_array("n_entries", "order", stored=("int16",))]
    values: Annotated[Floats, float_array("n_entries", scaled=True)]

    __repr__ = one_line

    def to_arrays(self, shapes: Ints) -> Arrays:
        """``offsets``, ``states``, int16, and ``values``, float32; shapes are not needed."""
        return {**arrays_of(self), "states": self.states.astype(np.int16)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, shapes: Ints) -> SparseTensors:
        """The tensors that gave these arrays.

        Args:
            arrays: of `to_arrays`.
            shapes: int32 (n_rules, order); of each tensor.

        Raises:
            ModelError: an array is not as it must be.
        """
        arrays = arrays.part(n_rules=shapes.shape[0], order=shapes.shape[1])
        tensors = cls(**arrays.fields(cls))
        if (tensors.states >= np.repeat(shapes, np.diff(tensors.offsets), axis=0)).any():
            raise arrays.error("states", "holds a state that its symbol does not have")
        return tensors


Tensors = DenseTensors | FactoredTensors | SparseTensors


def read_tensors(arrays: StoredArrays, shapes: Ints, *, signed: bool) -> Tensors:
    """Tensors of either kind, as they were stored; see their `from_arrays`."""
    if "states" in arrays:
        return SparseTensors.from_arrays(arrays, shapes)
    tensors = FactoredTensors.from_arrays(arrays, shapes, signed=signed)
    if tensors.ranks.any():
        return tensors
    return DenseTensors(offsets=tensors.offsets, values=tensors.numbers_of(tensors.factors))
