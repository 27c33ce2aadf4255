"""Kernels that multiply out the low-rank tensors of rules, one rule at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import LANES, kernel, kernel_part, load_lanes, multiply_add, padded, repeat, store_lanes
from spectralnlp.parameters.arrays import Ints, Offsets


class Factors(NamedTuple):
    """Tucker cores and bases of the tensors of rules, as stored in a model folder.

    Attributes:
        shapes: int32 (n_rules, order); shape of each rule's tensor.
        ranks: int16 (n_rules, order); shape of each core, or 0 for a tensor stored in full.
        places: int64 (n_rules + 1,); rule r has ``numbers[places[r]:places[r + 1]]``.
        numbers: float32; for each rule the core, then a basis for each axis, row-major.
        scale: factor to multiply ``numbers`` by.
        signed: whether tensors may have negative elements. If not, negative elements are set to zero, because
            they are errors of the low-rank approximation.
    """

    shapes: Ints
    ranks: NDArray[np.int16]
    places: Offsets
    numbers: NDArray[np.float32]
    scale: float
    signed: bool


@kernel_part
def room_to_multiply(most: int) -> NDArray[np.float64]:
    """Return the work array that `multiply_out` needs for tensors of at most ``most`` numbers."""
    return np.empty(2 * (most + LANES))


@kernel_part
def multiply_out(factors, rule, tensor, work):
    """Compute the tensor of a rule from its low-rank form, by multiplying its core by its bases.

    Args:
        factors: `Factors`.
        rule: index of the rule.
        tensor: float32 or float64 (size of the tensor,) or longer; output.
        work: array returned by `room_to_multiply`; overwritten.
    """
    numbers, scale, signed = factors.numbers, factors.scale, factors.signed
    shape, rank = factors.shapes[rule], factors.ranks[rule]
    at, stop = factors.places[rule], factors.places[rule + 1]
    if rank[0] == 0:
        for place in range(stop - at):
            value = scale * numbers[at + place]
            tensor[place] = value if signed or value > 0.0 else 0.0
        return
    size, longest = np.int64(1), np.int64(0)
    for axis in range(len(rank)):
        size *= rank[axis]
        longest = max(longest, padded(shape[axis]) * rank[axis])
    for place in range(size):
        work[place] = scale * numbers[at + place]
    at += size
    basis = np.zeros(longest)  # basis of one axis, transposed and padded: one row per component of the core
    source, target = 0, len(work) // 2
    for axis in range(len(rank)):  # contract the first axis; the axis of the tensor becomes the last one
        m, r = np.int64(shape[axis]), np.int64(rank[axis])
        width, rest = padded(m), size // r
        for k in range(r):
            for j in range(width):
                basis[k * width + j] = scale * numbers[at + j * r + k] if j < m else 0.0
        # Rows are written in order, so that each overwrites the padding of the row before.
        for i in range(rest):
            for j in range(0, width, LANES):
                total = repeat(0.0)
                for k in range(r):
                    value = repeat(work[source + k * rest + i])
                    total = multiply_add(value, load_lanes(basis, k * width + j), total)
                store_lanes(work, target + i * m + j, total)
        at += m * r
        size, source, target = rest * m, target, source
    for place in range(size):
        value = work[source + place]
        tensor[place] = value if signed or value > 0.0 else 0.0


@kernel_part
def write_tensors(factors, rules, offsets, is_there, numbers):
    """Compute the tensors of some rules from their low-rank form, except those computed before.

    Several threads may call this function at the same time.

    Args:
        factors: `Factors`.
        rules: int32; indices of rules; negative entries are ignored.
        offsets: int64 (n_rules + 1,); tensor r goes to ``numbers[offsets[r]:offsets[r + 1]]``.
        is_there: bool (n_rules,); whether each tensor has been written; updated.
        numbers: float32; all tensors; updated.
    """
    most = 0
    for rule in rules:
        if rule >= 0 and not is_there[rule]:
            most = max(most, offsets[rule + 1] - offsets[rule])
    if most == 0:
        return
    work = room_to_multiply(most)
    for rule in rules:
        if rule >= 0 and not is_there[rule]:
            multiply_out(factors, rule, numbers[offsets[rule] : offsets[rule + 1]], work)
            is_there[rule] = True


@kernel
def expand_rules(factors, rules, offsets, is_there, numbers):
    """Call `write_tensors` from Python: compute the tensors of some rules from their low-rank form.

    See `write_tensors` for the arguments.
    """
    write_tensors(factors, rules, offsets, is_there, numbers)
