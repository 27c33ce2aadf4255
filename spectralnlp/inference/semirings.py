"""Semirings: how the weights of derivations are combined, so that one recursion serves several purposes.

A dynamic program multiplies (⊗) the weights of the parts of a derivation and adds up (⊕) the derivations
(Goodman 1999). Over a forest or a chain the same recursion sums probabilities, counts derivations, finds the
best one or asks whether there is any, depending on what ⊕ and ⊗ are.

A kernel takes a semiring as its first argument, a named tuple with the neutral elements, and calls `plus` and
`times` with it. numba compiles the kernel once for each semiring and stores it on disk, as it would not if
functions were passed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import overload


class SumProduct(NamedTuple):
    """Sums of products: inside values; with weights of one, numbers of derivations."""

    zero: float = 0.0
    one: float = 1.0


class MaxPlus(NamedTuple):
    """The largest sum: the best derivation, by gains or by logarithms of probabilities."""

    zero: float = -np.inf
    one: float = 0.0


class AnyAll(NamedTuple):
    """Truth values: whether there is a derivation whose parts are all allowed."""

    zero: bool = False
    one: bool = True


Semiring = SumProduct | MaxPlus | AnyAll

Operation = Callable[[Any, Any, Any], Any]


def plus(semiring: Semiring, a: Any, b: Any) -> Any:
    """Return a ⊕ b; for kernels, which compile the semiring's own operation in place of the call."""
    raise NotImplementedError("for kernels only")


def times(semiring: Semiring, a: Any, b: Any) -> Any:
    """Return a ⊗ b; for kernels, which compile the semiring's own operation in place of the call."""
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
