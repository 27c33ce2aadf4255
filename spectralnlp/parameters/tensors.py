"""Tensors of rules, dense or sparse, and how model folders hold them.

The tensor of a rule that was seen n times has ranks of at most n or so: dense tensors are stored as a small
core and a basis for each axis (Tucker 1966; De Lathauwer et al. 2000), wherever that is smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.linalg import tucker
from spectralnlp.parameters.arrays import Floats, Ints, Offsets, offsets_of
from spectralnlp.storage import Arrays, StoredArrays, arrays_of, float_array, int_array, offset_array

# Relative error, in the Frobenius norm, that the storage of a tensor may make.
TOLERANCE = 1e-3

# Numbers that a tensor must have for a low-rank form to be tried.
WORTHWHILE = 64

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

    def to_arrays(self, shapes: Ints) -> Arrays:
        """``ranks``, int16, and ``values``, float32: cores and bases laid end to end.

        Args:
            shapes: int32 (n_rules, order); of each tensor.
        """
        ranks: NDArray[np.int16] = np.zeros(shapes.shape, np.int16)
        parts = [np.empty(0)]
        for rule, shape in enumerate(shapes):
            tensor = self.values[self.offsets[rule] : self.offsets[rule + 1]].reshape(shape)
            core, bases = tucker(tensor, tolerance=TOLERANCE) if tensor.size >= WORTHWHILE else (tensor, [])
            if bases and core.size + sum(basis.size for basis in bases) < tensor.size:
                ranks[rule] = core.shape
                parts += [core.ravel(), *(basis.ravel() for basis in bases)]
            else:
                parts.append(tensor.ravel())
        return {"ranks": ranks, "values": np.concatenate(parts).astype(np.float32)}

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, shapes: Ints, *, signed: bool) -> DenseTensors:
        """The tensors that gave these arrays, nearly.

        Args:
            arrays: of `to_arrays`.
            shapes: int32 (n_rules, order); of each tensor.
            signed: whether negative numbers were among them: a low rank makes tiny ones of zeros.

        Raises:
            ModelError: an array is not as it must be.
        """
        arrays = arrays.part(n_rules=shapes.shape[0], order=shapes.shape[1])
        ranks, factors = arrays.take("ranks", _RANKS), arrays.take("values", _FACTORS)
        is_factored = ranks > 0
        if (is_factored != is_factored[:, :1]).any() or (ranks > shapes).any():
            raise arrays.error("ranks", "holds ranks that no tensor of its rule has")
        large, r = shapes.astype(np.int64), ranks.astype(np.int64)
        sizes = large.prod(axis=1)
        stored = np.where(is_factored[:, 0], r.prod(axis=1) + (large * r).sum(axis=1), sizes).sum()
        if len(factors) != stored:
            raise arrays.error("values", f"holds {len(factors)} numbers, where the ranks ask for {stored}")
        values = _expanded(ranks, factors, shapes, offsets_of(sizes))
        if not signed:
            np.maximum(values, 0.0, out=values)
        return cls(offsets=offsets_of(sizes), values=values)


def _expanded(
    ranks: NDArray[np.int16], factors: Floats, shapes: Ints, offsets: Offsets
) -> NDArray[np.float32]:
    """Tensors multiplied out; float32, for they are the larger part of a parser's memory."""
    dense = np.empty(offsets[-1], np.float32)
    at = 0

    def take(*shape: int) -> Floats:
        nonlocal at
        size = math.prod(shape)
        at += size
        return factors[at - size : at].reshape(shape)

    for rule, (rank, shape) in enumerate(zip(ranks.tolist(), shapes.tolist(), strict=True)):
        if rank[0] == 0:
            tensor = take(*shape)
        else:
            tensor = take(*rank)
            for m, r in zip(shape, rank, strict=True):  # the first axis goes, its like comes last
                tensor = np.dot(tensor.reshape(r, -1).T, take(m, r).T)
        dense[offsets[rule] : offsets[rule + 1]] = tensor.ravel()
    return dense


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


Tensors = DenseTensors | SparseTensors


def read_tensors(arrays: StoredArrays, shapes: Ints, *, signed: bool) -> Tensors:
    """Tensors of either kind, as they were stored; see their `from_arrays`."""
    if "states" in arrays:
        return SparseTensors.from_arrays(arrays, shapes)
    return DenseTensors.from_arrays(arrays, shapes, signed=signed)
