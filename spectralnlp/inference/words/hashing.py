"""Numbers of words by hashing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.words.kernels import hash_word

Bytes = NDArray[np.uint8]


def bucket_of(word: str, bits: int) -> int:
    """The number that `HashedWords` gives a word."""
    text = as_bytes(word.encode("utf-8", "replace"))
    return 1 + (int(hash_word(text, 0, len(text))) & ((1 << bits) - 1))


def as_bytes(text: bytes) -> Bytes:
    """Text as an array that may be written to: kernels are compiled again for one that may not."""
    return np.frombuffer(bytearray(text), np.uint8)
