"""Convert text to arrays of bytes for kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def as_bytes(text: bytes) -> Bytes:
    """Return a copy of encoded text as a uint8 array (n_bytes,).

    The array is writable, because numba would compile each kernel a second time for read-only arrays.
    """
    return np.frombuffer(bytearray(text), np.uint8)
