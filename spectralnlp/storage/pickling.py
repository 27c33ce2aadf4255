"""Models as bytes for other processes: their fields, without what can be made again, numbers in few bytes.

joblib, Ray, Spark and `multiprocessing` pickle what they send. Nothing of this is written to disk.
"""

from __future__ import annotations

import io
import pickle
import zlib
from dataclasses import fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
# A function and its arguments, which make the array again.
Reduced: TypeAlias = tuple[Any, tuple[Any, ...]]

# Narrower types to try, the narrowest first: half precision, and small integers.
_NARROWER = {
    "float64": ("float16", "float32"),
    "float32": ("float16",),
    "int64": ("int8", "int16", "int32"),
    "int32": ("int8", "int16"),
    "uint64": ("uint8", "uint16", "uint32"),
    "uint32": ("uint8", "uint16"),
}
_SMALL = 64  # arrays of fewer numbers are pickled as they are


# The largest number of an array that was stored in half precision with a scale, before it is scaled.
_HALF = 32768.0


class _Packer(pickle.Pickler):
    """Pickles arrays in few bytes, from which each number comes back exactly."""

    def reducer_override(self, value: Any) -> Any:
        """Say how an array is pickled; all else as usual."""
        if type(value) is not np.ndarray or value.size < _SMALL:
            return NotImplemented
        found = _narrowed(value) or _unscaled(value)
        return NotImplemented if found is None else found


def _narrowed(array: Array) -> Reduced | None:
    """An array of another type that holds the same numbers."""
    for name in _NARROWER.get(array.dtype.name, ()):
        with np.errstate(all="ignore"):
            narrow = array.astype(name)
        if _same(narrow.astype(array.dtype), array):
            return _widen, (narrow, array.dtype.str)
    return None


def _unscaled(array: Array) -> Reduced | None:
    """Numbers in half precision and their factor, as compact model folders have them."""
    if array.dtype.name not in ("float32", "float64"):
        return None
    with np.errstate(all="ignore"):
        scale = np.array([np.abs(array).max() / _HALF], np.float32)
    if not 0 < scale[0] < np.inf:
        return None
    with np.errstate(all="ignore"):
        arguments = (array / scale).astype(np.float16), array.dtype.str, scale
        return (_widen, arguments) if _same(_widen(*arguments), array) else None


def _same(one: Array, other: Array) -> bool:
    """Whether bytes are equal: negative zeros and NaNs count."""
    return one.tobytes() == other.tobytes()


def _widen(narrow: Array, dtype: str, scale: Array | None = None) -> Array:
    wide = narrow.astype(dtype)
    return wide if scale is None else wide * scale


def packed(model: Any) -> bytes:
    """The fields of a dataclass as bytes, for `unpacked`; what it has cached is left out."""
    buffer = io.BytesIO()
    _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(
        {each.name: getattr(model, each.name) for each in fields(model)}
    )
    return zlib.compress(buffer.getvalue(), level=1)


def unpacked(kind: type[Any], content: bytes) -> Any:
    """The model that gave these bytes."""
    return kind(**pickle.loads(zlib.decompress(content)))
