"""Arrays deflated to bytes, for what is kept beside a model.

The bytes of numbers are sorted by significance first, as HDF5's *shuffle* filter does: high bytes of small
integers, signs and exponents then stand side by side, and deflate to little.
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
    """What a deflated array is.

    Attributes:
        dtype: its name.
        shape: of the array.
    """

    dtype: _Dtype
    shape: tuple[Annotated[int, Ge(0)], ...]

    __repr__ = one_line

    @property
    def n_bytes(self) -> int:
        """Bytes of the array in memory."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


def pack(arrays: Mapping[str, Array]) -> tuple[Arrays, dict[str, Any]]:
    """Deflate arrays; one that would not become smaller, or by more than `EXPANSION`, stays as it is.

    Returns:
        the arrays, uint8 (n_bytes,) where they are deflated; what each of those is, by name, as JSON values.
    """
    written, described = dict(arrays), {}
    for name, array in arrays.items():
        deflated = zlib.compress(_by_significance(array), _LEVEL)
        if len(deflated) < array.nbytes <= EXPANSION * len(deflated):
            written[name] = np.frombuffer(deflated, np.uint8)
            described[name] = asdict(Packed(array.dtype.name, array.shape))  # type: ignore[arg-type]
    return written, described


def unpack(arrays: StoredArrays, described: Mapping[str, Packed]) -> Arrays:
    """Return arrays as `pack` took them; none takes more than `EXPANSION` times its bytes in the file.

    Raises:
        ModelError: one is missing, or is not what is described.
    """
    return {**arrays.all(), **{name: _unpacked(arrays, name, each) for name, each in described.items()}}


def _unpacked(arrays: StoredArrays, name: str, described: Packed) -> Array:
    deflated, wanted = arrays.part().take(name, _DEFLATED), described.n_bytes
    if wanted > EXPANSION * len(deflated):
        raise arrays.error(name, f"holds {len(deflated):,} bytes and asks for memory for {wanted:.3g}")
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(deflated.tobytes(), wanted + 1)
    except zlib.error as error:
        raise arrays.error(name, f"cannot be inflated: {error}") from error
    if len(content) != wanted or not reader.eof or reader.unused_data:
        raise arrays.error(name, f"does not inflate to the {wanted:,} bytes that it is said to have")
    dtype = np.dtype(described.dtype)
    planes = np.frombuffer(content, np.uint8).reshape(dtype.itemsize, -1)
    try:
        return np.ascontiguousarray(planes.T).view(dtype).reshape(described.shape)
    except ValueError as error:
        raise arrays.error(name, f"is said to have a shape that no array has: {error}") from error


def _by_significance(array: Array) -> bytes:
    """Return the first bytes of all numbers, then the second ones, and so on."""
    items = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return items.reshape(-1, array.dtype.itemsize).T.tobytes()
