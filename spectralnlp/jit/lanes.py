"""Vector operations on eight numbers at a time, for kernels with short loops.

A compiler vectorises the bulk of a long loop and leaves the remainder to scalar instructions. A short loop,
such as one over the states of a symbol, would be all remainder. Arrays for these operations are padded with
zeros to a multiple of eight.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.extending import intrinsic, register_model

from spectralnlp.jit.bits import Typed
from spectralnlp.jit.decorators import Kernel, kernel_part

LANES = 8


class Lanes(types.Type):
    """Numba type of a vector of eight numbers of the same type.

    Args:
        number: numba type of each number.
    """

    def __init__(self, number: Any) -> None:
        self.number = number
        super().__init__(name=f"Lanes({number})")


@register_model(Lanes)
class _LanesModel(PrimitiveModel):
    def __init__(self, models: Any, kind: Any) -> None:
        super().__init__(models, kind, ir.VectorType(models.lookup(kind.number).get_value_type(), LANES))


def _load(typing_context: Any, array: Any, place: Any) -> Typed:
    """Return the eight numbers of an array from index ``place`` on, as a vector; no bounds check."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_pointer(context, builder, signature, args), align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, types.int64), generate


def _store(typing_context: Any, array: Any, place: Any, lanes: Any) -> Typed:
    """Write the eight numbers of a vector to an array from index ``place`` on; no bounds check."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = _pointer(context, builder, signature, args)
        builder.store(args[2], pointer, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), generate


def _repeat(typing_context: Any, number: Any) -> Typed:
    """Return a vector that holds a number eight times."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = context.get_value_type(signature.return_type)
        first = builder.insert_element(ir.Constant(lanes, ir.Undefined), args[0], _INDEX(0))
        zeros = ir.Constant(ir.VectorType(_INDEX, LANES), [0] * LANES)
        return builder.shuffle_vector(first, ir.Constant(lanes, ir.Undefined), zeros)

    return Lanes(number)(number), generate


def _multiply_add(typing_context: Any, a: Any, b: Any, c: Any) -> Typed:
    """Return a · b + c elementwise, with a single rounding if the processor supports it."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = args[0].type
        name = f"llvm.fmuladd.v{LANES}{lanes.element.intrinsic_name}"
        kind = ir.FunctionType(lanes, [lanes] * 3)
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return a(a, a, a), generate


def _divide_by_root(typing_context: Any, a: Any, b: Any) -> Typed:
    """Return a / √b elementwise; raises no error for zero or negative b."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        lanes = args[0].type
        name = f"llvm.sqrt.v{LANES}{lanes.element.intrinsic_name}"
        root = cgutils.get_or_insert_function(builder.module, ir.FunctionType(lanes, [lanes]), name)
        return builder.fdiv(args[0], builder.call(root, args[1:]))

    return a(a, a), generate


def _sum(typing_context: Any, lanes: Any) -> Typed:
    """Return the sum of the eight numbers of a vector, adding its halves repeatedly."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        (value,) = args
        n = LANES
        while n > 1:
            n //= 2
            nothing = ir.Constant(value.type, ir.Undefined)
            halves = [
                ir.Constant(ir.VectorType(_INDEX, n), list(range(first, first + n))) for first in (0, n)
            ]
            low, high = (builder.shuffle_vector(value, nothing, half) for half in halves)
            value = builder.fadd(low, high)
        return builder.extract_element(value, _INDEX(0))

    return lanes.number(lanes), generate


def _pointer(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    array = signature.args[0]
    data = context.make_array(array)(context, builder, args[0]).data
    lanes = ir.VectorType(context.get_value_type(array.dtype), LANES)
    return builder.bitcast(builder.gep(data, [args[1]]), lanes.as_pointer())


_INDEX = ir.IntType(32)

load_lanes: Kernel = intrinsic(_load)
store_lanes: Kernel = intrinsic(_store)
repeat: Kernel = intrinsic(_repeat)
multiply_add: Kernel = intrinsic(_multiply_add)
divide_by_root: Kernel = intrinsic(_divide_by_root)
sum_of_lanes: Kernel = intrinsic(_sum)


@kernel_part
def padded(n: int) -> int:
    """Return a number rounded up to a multiple of eight."""
    return (n + LANES - 1) // LANES * LANES
