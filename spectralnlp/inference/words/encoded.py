"""Convert text to arrays of bytes for kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def as_bytes(text: bytes) -> Bytes:
    """Return a copy of text as a uint8 array, writable because kernels are compiled again if it is not."""
    return np.frombuffer(bytearray(text), np.uint8)
