"""The files of a model folder: arrays in safetensors, and JSON that records their size and SHA-256."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp import __version__
from spectralnlp.errors import ModelError
from spectralnlp.storage.arrays import Array, Arrays
from spectralnlp.storage.snapshots import Snapshot, unreadable
from spectralnlp.storage.values import StoredValues, cut

_HINT = "copy or train the model again"

# Names of dtypes in safetensors.
_DTYPES: Mapping[str, str] = {
    "BOOL": "?",
    **{f"U{8 * size}": f"<u{size}" for size in (1, 2, 4, 8)},
    **{f"I{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": f"<f{size}" for size in (2, 4, 8)},
}


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON file, and wait until it is on disk."""
    write_file(path, (json.dumps(content, indent=1) + "\n").encode())


def write_file(path: Path, content: bytes) -> None:
    """Write a file, and wait until it is on disk."""
    with open(path, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def read_json(folder: Snapshot, name: str) -> StoredValues:
    """Read a JSON object from a file of a folder.

    Raises:
        ModelError: the file cannot be read, is truncated, nested too deeply, or not an object.
    """
    path = folder.path / name
    try:
        return StoredValues(json.loads(folder.read(name)), path)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"truncated or corrupt: {cut(str(error), 100)}", path=path) from error


def check_version(
    header: StoredValues, reads: int, noun: str, *, hint: str, oldest: int | None = None
) -> None:
    """Raise an error if this version of the package cannot read the format version of a file.

    Args:
        header: the content of the file.
        reads: the newest format version that this package reads.
        noun: the kind of file, for the message.
        hint: what to do about an older file, for the message.
        oldest: the oldest format version that this package reads; None if it reads only one.

    Raises:
        ModelError: the file has another format version. The message names the version of the package that
            wrote the file, and the present one.
    """
    version = header.take("format_version", int)
    if (reads if oldest is None else oldest) <= version <= reads:
        return
    what = f"{noun} {cut(str(version))}, of spectralnlp {cut(str(header.get('spectralnlp')))}"
    this = f"this is spectralnlp {__version__}, which reads {reads}"
    hint = "upgrade spectralnlp" if version > reads else hint
    raise ModelError(f"{what}, and {this}", path=header.path, hint=hint)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write arrays to a file, and return its size and SHA-256, which `read_arrays` checks."""
    from safetensors.numpy import save

    # safetensors writes an array's buffer as it is in memory, so each must be in C order.
    content = save({name: np.asarray(arrays[name], order="C") for name in sorted(arrays)})
    write_file(path, content)
    return {"size": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def read_arrays(folder: Snapshot, name: str, description: StoredValues) -> Arrays:
    """Read the arrays in a file; never allocate more memory than the file has bytes.

    Args:
        folder: the folder.
        name: name of the file.
        description: size and digest of the file, as `write_arrays` returned them.

    Raises:
        ModelError: the file is missing, truncated, changed, or not a file of arrays.
    """
    path = folder.path / name
    size, digest = description.take("size", int), description.take("sha256", str)
    with folder.open(name) as file:
        try:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                what = f"{found} bytes of {cut(str(size))}: the file is truncated or was changed"
                raise ModelError(what, path=path, hint=_HINT)
            if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                where = description.path.name if description.path else "its description"
                what = f"the file is corrupt: its SHA-256 is not the one in {where}"
                raise ModelError(what, path=path, hint=_HINT)
            file.seek(0)
            return _read_safetensors(file, size, path)
        except OSError as error:
            raise unreadable(path, error) from error


def sha256(content: bytes) -> str:
    """Return the SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def _read_safetensors(file: BufferedReader, size: int, path: Path) -> Arrays:
    """Read all arrays of a safetensors file, whose header gives the dtype, shape and position of each.

    The file must contain nothing but the header and the arrays: each array must begin where the one before it
    ends, and have the size that its dtype and shape require.

    Args:
        file: the file, at its beginning.
        size: size of the file in bytes.
        path: path of the file, for error messages.

    Raises:
        ModelError: the header or the position of an array is invalid.
    """
    try:
        length = int.from_bytes(file.read(8), "little")
        if length > size - 8:
            raise _damaged(path, "its header is longer than the file")
        header = json.loads(file.read(length))
        header.pop("__metadata__", None)
        places = {name: _place(entry) for name, entry in header.items()}
    except (ValueError, RecursionError, TypeError, KeyError, AttributeError) as error:
        raise _damaged(path, f"its header is not a list of arrays: {cut(str(error), 100)}") from error
    arrays, end = {}, 0
    for name, (dtype, shape, begin, stop) in sorted(places.items(), key=lambda item: item[1][2:]):
        if begin != end or stop - begin != math.prod(shape) * dtype.itemsize or stop > size - 8 - length:
            raise _damaged(path, f"array {cut(name)} does not fill its position")
        arrays[name] = np.fromfile(file, dtype, math.prod(shape)).reshape(shape)
        end = stop
    if end != size - 8 - length:
        raise _damaged(path, "it is longer than its arrays")
    return arrays


def _place(entry: Mapping[str, Any]) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return dtype, shape, start and end (exclusive, in bytes) of an array, from its entry in the header.

    Raises:
        ValueError, TypeError, KeyError: the entry is invalid.
    """
    shape, (begin, end) = entry["shape"], entry["data_offsets"]
    numbers = [*shape, begin, end]
    if not all(type(number) is int and 0 <= number < 1 << 62 for number in numbers) or len(shape) > 8:
        raise ValueError("an invalid shape or position")
    return np.dtype(_DTYPES[entry["dtype"]]), tuple(shape), begin, end


def _damaged(path: Path, why: str) -> ModelError:
    return ModelError(f"not a file of arrays: {why}", path=path, hint=_HINT)
