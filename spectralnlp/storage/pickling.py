"""Compact pickling of models, for sending them to other processes.

joblib, Ray, Spark and `multiprocessing` pickle what they send to other processes. This module pickles only
the fields of a model, not its caches, and converts each array to the narrowest dtype that represents its
values exactly. The pickled bytes are never written to disk.
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
# A function and the arguments from which it rebuilds the array.
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
_SMALL = 64  # arrays with fewer elements are pickled as they are


# The largest unscaled value of an array that is stored in half precision with a scale.
_HALF = 32768.0


class _Packer(pickle.Pickler):
    """A pickler that stores arrays in the narrowest dtype from which each value is restored exactly."""

    def reducer_override(self, value: Any) -> Any:
        """Return how to rebuild an array from a narrower one; NotImplemented to pickle the value as usual.

        pickle calls this method for each object. Arrays that are small, or that no narrower dtype
        represents exactly, are pickled as usual.
        """
        if type(value) is not np.ndarray or value.size < _SMALL:
            return NotImplemented
        reduced = _narrowed(value) or _unscaled(value)
        return NotImplemented if reduced is None else reduced


def _narrowed(array: Array) -> Reduced | None:
    """Convert an array to the narrowest dtype that represents its values exactly.

    Returns:
        A function and its arguments, by which pickle rebuilds the array; None if no narrower dtype is exact.
    """
    for name in _NARROWER.get(array.dtype.name, ()):
        with np.errstate(all="ignore"):
            narrow = array.astype(name)
        if _same(narrow.astype(array.dtype), array):
            return _widen, (narrow, array.dtype.str)
    return None


def _unscaled(array: Array) -> Reduced | None:
    """Convert an array of floats to float16 numbers and a scale by which to multiply them.

    This is exact for arrays from compact model folders, which are stored in this form.

    Returns:
        A function and its arguments, by which pickle rebuilds the array; None if this form is not exact.
    """
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
    """Return whether two arrays have the same bytes; unlike ``==``, this distinguishes 0.0 from -0.0."""
    return one.tobytes() == other.tobytes()


def _widen(narrow: Array, dtype: str, scale: Array | None = None) -> Array:
    wide = narrow.astype(dtype)
    return wide if scale is None else wide * scale


def packed(model: Any) -> bytes:
    """Return the fields of a dataclass as bytes, from which `unpacked` restores it; caches are left out."""
    buffer = io.BytesIO()
    _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(
        {each.name: getattr(model, each.name) for each in fields(model)}
    )
    return zlib.compress(buffer.getvalue(), level=1)


def unpacked(kind: type[Any], content: bytes) -> Any:
    """Return the model whose fields `packed` converted to bytes.

    Args:
        kind: class of the model.
        content: the bytes.
    """
    return kind(**pickle.loads(zlib.decompress(content)))
