"""Determine the rank of data from singular values: how many are not zero, and how many exceed noise."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Singular values below this share of the largest count as zero.
NEGLIGIBLE = 1e-7


def usable_rank(singular_values: Floats, wanted: int, name: str, *, constant: int = 0) -> int:
    """Return the requested rank; if the data has a lower one, warn and return the numerical rank.

    Args:
        singular_values: float64 (n,), descending.
        wanted: requested rank.
        name: name of the hyper-parameter that sets the rank, for the warning.
        constant: number by which the hyper-parameter exceeds ``wanted``, for the warning.
    """
    largest = singular_values[0] if len(singular_values) else 0.0
    rank = min(int((singular_values > NEGLIGIBLE * max(largest, 1e-300)).sum()), wanted)
    if rank < wanted:
        shown = ", ".join(f"{value:.2g}" for value in singular_values[: rank + 1][-6:]) or "none"
        what = f"{name} lowered from {wanted + constant} to {rank + constant}"
        warnings.warn(f"{what}: the data has a lower rank (singular values {shown})", stacklevel=2)
    return rank


class Spectrum(NamedTuple):
    """Singular values of a matrix that is estimated from a sample.

    Args:
        values: float64 (n,), descending.
        noise: size of the largest singular value that sampling errors alone would have; see `sampling_noise`.
    """

    values: Floats
    noise: float

    def remarks(self, name: str, *, constant: int = 0) -> list[str]:
        """Return a line if some of the values are below the noise, which says how many are not.

        Args:
            name: name of the hyper-parameter that sets the number of values.
            constant: number by which the hyper-parameter exceeds the number of values.
        """
        above = int((self.values > self.noise).sum())
        if above == len(self.values):
            return []
        below = ", ".join([f"{value:.2g}" for value in self.values[above:][:3]])
        what = f"the data bear {name}={max(above + constant, 1)}, not {len(self.values) + constant}"
        return [f"{what}: the next singular values ({below}) are below the sampling error, {self.noise:.2g}"]

    def rounded(self) -> tuple[float, ...]:
        """Return the values to show, with three digits."""
        return tuple(float(f"{value:.3g}") for value in self.values)


def sampling_noise(rows: Floats, columns: Floats, n: float) -> float:
    """Return the spectral norm of the sampling errors of a matrix of scaled relative frequencies.

    It is that of a random matrix with independent entries of variance a_i b_j / n: √(max a Σb / n) +
    √(max b Σa / n) (Bandeira and van Handel 2016, theorem 1.1, without the logarithmic term). If rows and
    columns are divided by the square roots of their probabilities, all a_i = b_j = 1, and this is the edge of
    the Marchenko–Pastur law.

    Args:
        rows: a, float64 (p,); probability of each row, times the square of its scale.
        columns: b, float64 (q,); the same of each column.
        n: number of observations.
    """
    squares = rows.max(initial=0.0) * columns.sum(), columns.max(initial=0.0) * rows.sum()
    return float(sum(np.sqrt(each / max(n, 1.0)) for each in squares))
