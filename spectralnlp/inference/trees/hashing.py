"""Hash function for features of spans and sentence ends; the low bits of a hash select a weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from spectralnlp.jit import kernel_part

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2 ** 64 over the golden ratio


@kernel_part
def mix(code: Any, value: Any) -> Any:
    """Extend a hash by one value: return the uint64 hash of ``code``, itself a hash, and ``value``."""
    code = (code ^ value) * GOLDEN
    return code ^ (code >> np.uint64(29))
