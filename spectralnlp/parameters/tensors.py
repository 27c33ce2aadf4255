"""Parameter tensors of a latent-state grammar, one per rule, dense or sparse, and their storage.

A rule's tensor has one axis for each of its symbols, over the latent states of that symbol. If the rule
occurs n times in the training data, each rank of its tensor is at most about n. So a dense tensor is stored
in low-rank form, as a small core and a basis for each axis (Tucker 1966; De Lathauwer et al. 2000), if that
takes fewer numbers.
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
from spectralnlp.parameters.arrays import Floats, Ints, Offsets
from spectralnlp.parameters.expansion import Factors, expand_rules
from spectralnlp.runtime import offsets_of, trim_memory
from spectralnlp.storage import Arrays, StoredArrays, arrays_of, float_array, int_array, offset_array

# Largest relative error, in the Frobenius norm, of a stored tensor.
TOLERANCE = 1e-3

# Smallest size, in numbers, of a tensor for which a low-rank form is tried.
WORTHWHILE = 64

# Number of tensors of one shape that are decomposed at a time.
_TOGETHER = 64

# Arrays of the stored form of dense tensors; ranks are 0 for a tensor stored in full.
_RANKS = int_array("n_rules", "order", dtype="int16")
_FACTORS = float_array("n_numbers", scaled=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseTensors:
    """One dense tensor per rule.

    A tensor has shape (m_a, m_b, m_c) for a → b c and (m_a, m_b) for a → b, in row-major order, where m_a is
    the number of latent states of the symbol a.

    Attributes:
        offsets: int64 (n_rules + 1,); tensor r is ``values[offsets[r]:offsets[r + 1]]``.
        values: all tensors, concatenated; float64 when learned, float32 when read from a model folder.
    """

    offsets: Offsets
    values: NDArray[Any]

    __repr__ = one_line

    def to_arrays(self, shapes: Ints) -> Arrays:
        """Return the arrays to store in a model folder, in low-rank form where that is smaller.

        Args:
            shapes: int32 (n_rules, order); shape of each tensor.

        Returns:
            ``ranks``, int16 (n_rules, order), and ``values``, float32, the cores and bases, concatenated.
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
                        # Copy: a view would keep the arrays of all tensors in memory.
                        parts[rule] = [part.astype(np.float32).ravel() for part in (core, *bases)]
                trim_memory()
        flat = (part.astype(np.float32, copy=False) for each in parts for part in each)
        return {"ranks": ranks, "values": np.concatenate([np.empty(0, np.float32), *flat])}

    def extended(self, factors: Floats, shapes: Ints, new: Sequence[Floats]) -> DenseTensors:
        """Return the tensors of a grammar to which rules were added; tensors of old rules are rescaled.

        Args:
            factors: float64 (n_rules,); for each rule of the larger grammar, the number by which to multiply
                its tensor, or NaN if the rule is new.
            shapes: int32 (n_rules, order); shape of the tensor of each rule of the larger grammar.
            new: tensors of the new rules, each flattened, in the order of the rules.
        """
        is_old = ~np.isnan(factors)
        scaled = self.values * np.repeat(factors[is_old].astype(self.values.dtype), np.diff(self.offsets))
        values = _between(scaled, self.offsets, is_old, new)
        return DenseTensors(offsets=offsets_of(shapes.prod(axis=1, dtype=np.int64)), values=values)

    def with_rules(self, rules: Ints) -> NDArray[Any]:
        """Return ``values``, the array of all tensors; ``rules`` is ignored.

        In `FactoredTensors`, this method first computes the tensors of ``rules``. Dense tensors need no
        computation.
        """
        return self.values

    @property
    def expanded(self) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The array ``values``, and a mask that is True for every rule, bool (n_rules,).

        In `FactoredTensors`, the mask is True only for rules whose tensors have been computed.
        """
        return self.values, np.ones(len(self.offsets) - 1, bool)

    def stored(self, shapes: Ints) -> Factors:
        """Return a `Factors` record without cores and bases, to call kernels that require such a record.

        Kernels read cores and bases only to compute missing tensors, and no dense tensor is missing.

        Args:
            shapes: int32 (n_rules, order); shape of each tensor.
        """
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
    """Tensors in low-rank form (cores and bases); each is computed when a sentence first needs its rule.

    Attributes:
        offsets: int64 (n_rules + 1,); as in `DenseTensors`.
        shapes: int32 (n_rules, order); shape of each tensor.
        ranks: int16 (n_rules, order); shape of each core, or 0 for a tensor stored in full.
        factors: cores and bases, concatenated, as `DenseTensors.to_arrays` returns them; in the dtype of the
            model folder.
        scale: number to multiply ``factors`` by.
        signed: whether tensors may have negative elements. If not, negative elements are set to zero, because
            they are errors of the low-rank approximation.
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
        """Read tensors from stored arrays; they equal the original ones up to `TOLERANCE`.

        Args:
            arrays: stored arrays, as `DenseTensors.to_arrays` returns them.
            shapes: int32 (n_rules, order); shape of each tensor.
            signed: whether the original tensors had negative numbers.

        Raises:
            ModelError: a stored array is invalid.
        """
        arrays = arrays.part(n_rules=shapes.shape[0], order=shapes.shape[1])
        ranks, (factors, scale) = arrays.take("ranks", _RANKS), arrays.take_narrow("values", _FACTORS)
        is_factored = ranks > 0
        if (is_factored != is_factored[:, :1]).any() or (ranks > shapes).any():
            raise arrays.error("ranks", "holds ranks that do not match the shapes of tensors")
        arrays.check_expansion("values", shapes.astype(np.float64).prod(axis=1).sum(), len(factors))
        offsets = offsets_of(shapes.prod(axis=1, dtype=np.int64))
        tensors = cls(
            offsets=offsets, shapes=shapes, ranks=ranks, factors=factors, scale=scale, signed=signed
        )
        if len(factors) != (stored := tensors._places[-1]):
            raise arrays.error("values", f"holds {len(factors)} numbers, but the ranks require {stored}")
        return tensors

    def extended(self, factors: Floats, shapes: Ints, new: Sequence[Floats]) -> FactoredTensors:
        """Return the tensors of a grammar to which rules were added; see `DenseTensors.extended`.

        The tensor of an old rule is rescaled by rescaling its core. New tensors are stored in full.
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
        """All tensors, computed from their low-rank form and concatenated as in `DenseTensors`; float32."""
        return self.with_rules(np.arange(len(self.shapes), dtype=np.int32))

    def with_rules(self, rules: Ints) -> NDArray[Any]:
        """Compute the tensors of some rules from cores and bases, and return the array of all tensors.

        In the array, only tensors that have been computed are valid. Several threads may call this method at
        the same time, because they all write the same numbers.
        """
        numbers, is_there = self.expanded
        expand_rules(self._stored, rules.astype(np.int32), self.offsets, is_there, numbers)
        return numbers

    def to_arrays(self, shapes: Ints) -> Arrays:
        """Return the cores and bases as arrays for a model folder; see `DenseTensors.to_arrays`."""
        return {"ranks": self.ranks, "values": (self.factors * self.scale).astype(np.float32)}

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields to pickle, without the cached tensors, which other processes can compute."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def expanded(self) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        """Array for all tensors, and a mask of the rules whose tensors it already contains, bool (n_rules,).

        Kernels compute further tensors in the array, and update the mask.
        """
        # Memory pages of an empty array are only allocated when written to.
        return np.empty(self.offsets[-1], np.float32), np.zeros(len(self.shapes), bool)

    def stored(self, shapes: Ints) -> Factors:
        """Return the cores and bases as a `Factors` record, for kernels; ``shapes`` is ignored."""
        return self._stored

    @cached_property
    def _stored(self) -> Factors:
        # Copy read-only arrays: numba would compile the kernels again for them.
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
        """Start of each tensor's core and bases in ``factors``, and the total size, int64 (n_rules + 1,)."""
        large, r = self.shapes.astype(np.int64), self.ranks.astype(np.int64)
        sizes = np.where(r[:, 0] > 0, r.prod(axis=1) + (large * r).sum(axis=1), large.prod(axis=1))
        return offsets_of(sizes)

    def numbers_of(self, stored: NDArray[Any]) -> NDArray[np.float32]:
        """Return the elements of tensors that are stored in full as float32, multiplied by ``scale``.

        Negative numbers become 0 unless ``signed`` is true.

        Args:
            stored: the elements as they are in ``factors``.
        """
        numbers = (stored.astype(np.float64) * self.scale).astype(np.float32)
        return numbers if self.signed else np.maximum(numbers, np.float32(0.0))


def _between(
    numbers: NDArray[Any], places: Offsets, is_old: NDArray[np.bool_], new: Sequence[Floats]
) -> NDArray[Any]:
    """Merge the tensors of old and new rules into one array, in the order of the extended grammar.

    Args:
        numbers: tensors of the old rules, concatenated; either complete or as cores and bases.
        places: int64 (n_old + 1,); where the tensor of each old rule begins in ``numbers``, and the end.
        is_old: bool (n_rules,); whether each rule of the extended grammar is an old one.
        new: tensors of the new rules, each flattened, in the order of the rules.

    Returns:
        The tensors of all rules, concatenated, in the dtype of ``numbers``.
    """
    first, *runs = np.split(numbers, places[np.cumsum(is_old)[~is_old]])
    pairs = zip(new, runs, strict=True)
    return np.concatenate([first, *(part for each, run in pairs for part in (each.astype(first.dtype), run))])


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseTensors:
    """One sparse tensor per rule, as its non-zero entries.

    Attributes:
        offsets: int64 (n_rules + 1,); rule r has the entries ``offsets[r]:offsets[r + 1]``.
        states: int32 (n_entries, 3) for a → b c, (n_entries, 2) for a → b; states of each entry's symbols.
        values: float64 (n_entries,); value of each entry.
    """

    offsets: Annotated[Offsets, offset_array("n_rules + 1", into="n_entries")]
    states: Annotated[Ints, int_array("n_entries", "order", stored=("int16",))]
    values: Annotated[Floats, float_array("n_entries", scaled=True)]

    __repr__ = one_line

    def to_arrays(self, shapes: Ints) -> Arrays:
        """Return the fields as arrays for storage, ``states`` as int16; ``shapes`` is ignored."""
        return {**arrays_of(self), "states": self.states.astype(np.int16)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, shapes: Ints) -> SparseTensors:
        """Read tensors from stored arrays.

        Args:
            arrays: stored arrays, as `to_arrays` returns them.
            shapes: int32 (n_rules, order); shape of each tensor.

        Raises:
            ModelError: a stored array is invalid.
        """
        arrays = arrays.part(n_rules=shapes.shape[0], order=shapes.shape[1])
        tensors = cls(**arrays.fields(cls))
        if (tensors.states >= np.repeat(shapes, np.diff(tensors.offsets), axis=0)).any():
            raise arrays.error("states", "holds a state that its symbol does not have")
        return tensors


Tensors = DenseTensors | FactoredTensors | SparseTensors


def read_tensors(arrays: StoredArrays, shapes: Ints, *, signed: bool) -> Tensors:
    """Return stored tensors: sparse ones, low-rank ones or, if all are stored in full, dense ones.

    See `FactoredTensors.from_arrays` for the arguments and errors.
    """
    if "states" in arrays:
        return SparseTensors.from_arrays(arrays, shapes)
    tensors = FactoredTensors.from_arrays(arrays, shapes, signed=signed)
    if tensors.ranks.any():
        return tensors
    return DenseTensors(offsets=tensors.offsets, values=tensors.numbers_of(tensors.factors))
