"""Semirings for dynamic programs over chains and forests.

A dynamic program multiplies (⊗) the weights of the parts of a derivation and sums (⊕) over derivations
(Goodman 1999). Depending on ⊕ and ⊗, the same recursion sums probabilities, counts derivations, finds the
best derivation or tests whether there is one.

A kernel takes a semiring, a named tuple of the neutral elements, as its first argument and passes it to
`plus` and `times`. numba compiles the kernel once per semiring and caches it on disk, which it could not do
if functions were passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload


class SumProduct(NamedTuple):
    """The sum-product semiring, which sums the weights of derivations.

    With weights of 1 it counts derivations.
    """

    zero: float = 0.0
    one: float = 1.0


class MaxPlus(NamedTuple):
    """The max-plus semiring, which finds the derivation with the largest sum of scores or logarithms."""

    zero: float = -np.inf
    one: float = 0.0


class AnyAll(NamedTuple):
    """The Boolean semiring, which tests whether there is a derivation all of whose parts are allowed."""

    zero: bool = False
    one: bool = True


Semiring = SumProduct | MaxPlus | AnyAll

Operation = Callable[[Any, Any, Any], Any]


def plus(semiring: Semiring, a: Any, b: Any) -> Any:
    """Return a ⊕ b; in kernels, the call is compiled to the operation of the semiring."""
    raise NotImplementedError("for kernels only")


def times(semiring: Semiring, a: Any, b: Any) -> Any:
    """Return a ⊗ b; in kernels, the call is compiled to the operation of the semiring."""
    raise NotImplementedError("for kernels only")


@overload(plus, strict=False)
def _plus(semiring: Any, a: Any, b: Any) -> Operation | None:
    return {
        SumProduct: lambda semiring, a, b: a + b,
        MaxPlus: lambda semiring, a, b: b if b > a else a,
        AnyAll: lambda semiring, a, b: a or b,
    }.get(semiring.instance_class)


@overload(times, strict=False)
def _times(semiring: Any, a: Any, b: Any) -> Operation | None:
    return {
        SumProduct: lambda semiring, a, b: a * b,
        MaxPlus: lambda semiring, a, b: a + b,
        AnyAll: lambda semiring, a, b: a and b,
    }.get(semiring.instance_class)
