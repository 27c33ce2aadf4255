"""Text as arrays of bytes, for kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def as_bytes(text: bytes) -> Bytes:
    """Text as an array that may be written to: kernels are compiled again for one that may not."""
    return np.frombuffer(bytearray(text), np.uint8)
