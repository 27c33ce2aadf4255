"""Compute how many rows a linear sketch needs to preserve norms within a factor of 1 ± ε."""

from __future__ import annotations

import math

from spectralnlp_sketch.errors import SizeError, warn


def required_rows(method: str, d: int, epsilon: float, *, n_rows: int | None = None) -> int:
    """Return how many rows a linear sketch needs to preserve the norms of all X v within a factor of 1 ± ε.

    The known bounds have unknown constant factors, which are taken as 1. ``countsketch``: (d/ε)². ``osnap``:
    d·ln(d)/ε². ``gaussian``: d/ε². ``srht``: (√d + √ln(n))²·ln(d)/ε² (Tropp 2011, theorem 1.3). Chin and
    Liang 2019, sections 3.2 and 3.6; Woodruff 2014, chapter 2.

    Args:
        method: ``countsketch``, ``osnap``, ``gaussian`` or ``srht``.
        d: number of columns of the matrix.
        epsilon: precision ε, between 0 and 1.
        n_rows: number of rows n of the matrix, used by ``srht`` only; None for d².

    Raises:
        SizeError: there is no such method, ``d`` is less than 1, or ε is not between 0 and 1.

    Examples:
        >>> from spectralnlp_sketch import required_rows
        >>> required_rows("gaussian", d=10, epsilon=0.5) < required_rows("gaussian", d=10, epsilon=0.1)
        True
    """
    if not 0 < epsilon < 1:
        raise SizeError(f"epsilon must be between 0 and 1, not {epsilon}")
    if d < 1:
        raise SizeError(f"d must be 1 or more, not {d}")
    log_d = max(1.0, math.log(d))
    sizes = {
        "countsketch": float(d) ** 2,
        "osnap": d * log_d,
        "gaussian": float(d),
        "srht": (math.sqrt(d) + math.sqrt(math.log(max(n_rows or d * d, 2)))) ** 2 * log_d,
    }
    if method not in sizes:
        raise SizeError(f"no linear sketch is called {method!r}", hint=f"there are {', '.join(sizes)}")
    return math.ceil(sizes[method] / epsilon**2)


def warn_if_short(method: str, d: int, epsilon: float, n_rows: int) -> bool:
    """Warn if a matrix has fewer rows than its sketch would need, so that an exact method is better.

    Chin and Liang 2019, figure 6.

    Args:
        method, d, epsilon: as for `required_rows`.
        n_rows: number of rows of the matrix.

    Returns:
        Whether there was a warning.
    """
    needed = required_rows(method, d, epsilon, n_rows=n_rows)
    if n_rows >= needed:
        return False
    what = f"{method} of {d} columns within {epsilon:g} needs {needed:,} rows, and there are {n_rows:,}"
    warn(f"{what}: use the exact method")
    return True
