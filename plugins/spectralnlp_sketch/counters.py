"""Random numbers computed from a seed, a document and a row, so that they are equal in every process.

A document is a file, or a matrix in memory. The mixing function is the finaliser of SplitMix64 (Steele, Lea
and Flood 2014, *Fast splittable pseudorandom number generators*, figure 14), applied twice over a counter.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from spectralnlp.jit import kernel

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _32, _11 = (np.uint64(bits) for bits in (30, 27, 31, 32, 11))
_ONE = np.uint64(1)


@kernel
def mix(x):
    """Hash a 64-bit integer ``x`` (uint64) to 64 pseudorandom bits (uint64)."""
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@kernel
def stream_key(seed, document):
    """Return the 64-bit key from which a document's random numbers are computed.

    Args:
        seed: seed of all random numbers.
        document: number of the document.
    """
    return mix(mix(np.uint64(seed) + _GOLDEN) + np.uint64(document) * _GOLDEN)


@kernel
def draw(key, row, number):
    """Return the 64 random bits of one draw, which depend only on the arguments.

    Args:
        key: key of the document, from `stream_key`.
        row: number of the row in the document.
        number: number of the draw within the row.
    """
    return mix(mix(key + np.uint64(row) * _GOLDEN) + np.uint64(number) * _SECOND)


@kernel
def below(bits, n):
    """Map 64 random bits to an integer from 0 to n − 1 (n < 2³²)."""
    return np.int64(((bits >> _32) * np.uint64(n)) >> _32)


@kernel
def sign(bits):
    """Return a random sign, −1 or 1, from 64 random bits."""
    return 1.0 - 2.0 * np.float64(bits & _ONE)


@kernel
def normals(seed, document, start, n_rows, n_columns):
    """Return standard normals (n_rows, n_columns) for consecutive rows of a document, by Box and Muller.

    Args:
        seed: seed of all random numbers.
        document: number of the document.
        start: number of the first row.
        n_rows, n_columns: shape of the result.
    """
    key = stream_key(seed, document)
    result = np.empty((n_rows, n_columns))
    for i in range(n_rows):
        for pair in range((n_columns + 1) // 2):
            u = (np.float64(draw(key, start + i, 2 * pair) >> _11) + 0.5) * 2.0**-53
            v = (np.float64(draw(key, start + i, 2 * pair + 1) >> _11) + 0.5) * 2.0**-53
            radius, angle = math.sqrt(-2.0 * math.log(u)), 2.0 * math.pi * v
            result[i, 2 * pair] = radius * math.cos(angle)
            if 2 * pair + 1 < n_columns:
                result[i, 2 * pair + 1] = radius * math.sin(angle)
    return result


@kernel
def _keys(seed, n):
    keys = np.empty(n, np.uint64)
    for i in range(n):
        keys[i] = mix(np.uint64(seed) + np.uint64(i) * _GOLDEN)
    return keys


def permuted_prefix(seed: int, n: int, size: int) -> NDArray[np.int64]:
    """Draw ``size`` of the integers below ``n`` without replacement, in random order; int64 (size,)."""
    return np.argsort(_keys(seed, n), kind="stable")[:size].astype(np.int64)
