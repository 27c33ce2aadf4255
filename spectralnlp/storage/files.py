"""Files of a folder: named arrays in safetensors that a JSON file knows by their size and SHA-256."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp import __version__
from spectralnlp.errors import ModelError
from spectralnlp.storage.arrays import Array, Arrays


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON as all files of a folder are written."""
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def read_json(path: Path) -> Any:
    """Read JSON.

    Raises:
        ModelError: it cannot be read, or is cut short.
    """
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path=path) from error
    except ValueError as error:
        raise ModelError(f"truncated or corrupt: {error}", path=path) from error


def check_version(header: Mapping[str, Any], reads: int, path: Path, noun: str, *, hint: str) -> None:
    """Do nothing if a file is of the format version that this version of the package reads.

    Args:
        header: the content of the file.
        reads: the format version that is read.
        path: the file.
        noun: what has the format version, for the message.
        hint: what to do about an older file.

    Raises:
        ModelError: it is of another; names both versions of the package.
    """
    version = header.get("format_version")
    if version == reads:
        return
    newer = isinstance(version, int) and version > reads
    what = f"{noun} {version}, of spectralnlp {header.get('spectralnlp')}"
    this = f"this is spectralnlp {__version__}, which reads {reads}"
    raise ModelError(f"{what}, and {this}", path=path, hint="upgrade spectralnlp" if newer else hint)


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write arrays, and return the size and digest that `read_arrays` asks for."""
    from safetensors.numpy import save

    # safetensors writes an array's buffer as it lies, so each must lie in C order.
    path.write_bytes(save({name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}))
    return {"size": path.stat().st_size, "sha256": sha256(path)}


def read_arrays(path: Path, described: Mapping[str, Any], where: str) -> Arrays:
    """Read arrays.

    Args:
        path: the file.
        described: its size and digest, as `write_arrays` returned them.
        where: name of the file that holds them, for messages.

    Raises:
        ModelError: the file is missing, cut short or changed.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    hint = "copy or train the model again"
    try:
        size, digest = path.stat().st_size, sha256(path)
        if size != described["size"]:
            what = f"{size} bytes of {described['size']}: the file is truncated or was changed"
            raise ModelError(what, path=path, hint=hint)
        if digest != described["sha256"]:
            what = f"the file is corrupt: its SHA-256 is not the one in {where}"
            raise ModelError(what, path=path, hint=hint)
        return load_file(path)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path=path) from error
    except SafetensorError as error:
        raise ModelError(f"not a model: {error}", path=path.parent) from error


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
