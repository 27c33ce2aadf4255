"""Convert text to arrays of bytes for kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]


def as_bytes(text: bytes) -> Bytes:
    """Return text as a writable uint8 array; a read-only array would make the kernels compile once more."""
    return np.frombuffer(bytearray(text), np.uint8)
