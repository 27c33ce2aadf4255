"""Compression of arrays with deflate, for the training statistics (moments) kept beside a model.

The bytes of an array are first ordered by significance, as in HDF5's *shuffle* filter: the high bytes of
small integers, and signs and exponents, then stand side by side and compress well.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from spectralnlp.display import one_line
from spectralnlp.storage.arrays import EXPANSION, Array, Arrays, StoredArrays, int_array

# Higher levels take much longer and save little.
_LEVEL = 4
_Dtype = Literal[
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64",
]  # fmt: skip
_DEFLATED = int_array("n_bytes", dtype="uint8")


@dataclass(frozen=True)
class Packed:
    """Dtype and shape of a deflated array.

    Attributes:
        dtype: name of the dtype.
        shape: shape of the array.
    """

    dtype: _Dtype
    shape: tuple[Annotated[int, Ge(0)], ...]

    __repr__ = one_line

    @property
    def n_bytes(self) -> int:
        """Size of the inflated array in bytes."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def pack(arrays: Mapping[str, Array]) -> tuple[Arrays, dict[str, Any]]:
    """Deflate arrays, except those that do not shrink, or shrink by more than a factor of `EXPANSION`.

    The upper bound lets `unpack` reject a file that would inflate to far more memory than its size.

    Returns:
        The arrays, deflated ones as uint8 (n_bytes,); and dtype and shape of each deflated array by name, as
        JSON values.
    """
    written, packed = dict(arrays), {}
    for name, array in arrays.items():
        deflated = zlib.compress(_by_significance(array), _LEVEL)
        if len(deflated) < array.nbytes <= EXPANSION * len(deflated):
            written[name] = np.frombuffer(deflated, np.uint8)
            packed[name] = asdict(Packed(array.dtype.name, array.shape))  # type: ignore[arg-type]
    return written, packed


def unpack(arrays: StoredArrays, packed: Mapping[str, Packed]) -> Arrays:
    """Return the arrays that `pack` was given.

    Args:
        arrays: the arrays that `pack` returned, as read from a file.
        packed: dtype and shape of each deflated array, by name.

    Raises:
        ModelError: an array is missing, does not match its description, or would inflate to more than
            `EXPANSION` times its size in the file.
    """
    return {**arrays.all(), **{name: _unpacked(arrays, name, each) for name, each in packed.items()}}


def _unpacked(arrays: StoredArrays, name: str, packed: Packed) -> Array:
    deflated, wanted = arrays.part().take(name, _DEFLATED), packed.n_bytes
    if wanted > EXPANSION * len(deflated):
        raise arrays.error(name, f"holds {len(deflated):,} bytes and asks for memory for {wanted:.3g}")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(deflated.tobytes(), wanted + 1)
    except zlib.error as error:
        raise arrays.error(name, f"cannot be inflated: {error}") from error
    if len(content) != wanted or not reader.eof or reader.unused_data:
        raise arrays.error(name, f"does not inflate to its declared size, {wanted:,} bytes")
    dtype = np.dtype(packed.dtype)
    planes = np.frombuffer(content, np.uint8).reshape(dtype.itemsize, -1)
    try:
        return np.ascontiguousarray(planes.T).view(dtype).reshape(packed.shape)
    except ValueError as error:
        raise arrays.error(name, f"has an invalid declared shape: {error}") from error


def _by_significance(array: Array) -> bytes:
    """Return the first bytes of all elements, then their second bytes, and so on."""
    items = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return items.reshape(-1, array.dtype.itemsize).T.tobytes()
