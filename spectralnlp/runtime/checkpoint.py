"""Checkpoints: moments of finished partitions, stored in a folder so that an interrupted run can resume.

The passes of a ``fit`` always come in the same order, and their moments depend only on the data and the
parameters. A restarted run loads the moments that the first run finished, pass by pass, and checks that data
and parameters are the same. Its results equal those of an uninterrupted run, byte for byte.

Before the first pass, random values that the run draws, such as a salt, are stored in the folder ``pass-0``.
Each pass has a folder, such as ``pass-1-PairCounts``, with a safetensors file for each finished partition;
when all are merged, one file with the sum replaces them. If a function (such as a parser) is mapped over
examples, its results are stored in a file, such as ``map-1.jsonl`` (`spectralnlp.runtime.journal`).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from spectralnlp.display import exact
from spectralnlp.errors import ConfigError, ModelError, resolved
from spectralnlp.runtime.corpus import Partition
from spectralnlp.runtime.moments import Array, Moments

M = TypeVar("M", bound=Moments[Any])

FORMAT, FORMAT_VERSION = "spectralnlp-moments", "1"
_HINT = "delete the file, or the folder to begin again"


# ---------------------------------------------------------------------------------------------------------
# Moments in a file


def save_part(path: Path, moments: Moments[Any], about: Mapping[str, str]) -> None:
    """Write the moments of a partition (a part of the corpus) to a safetensors file, atomically.

    The header names the class and has a digest of each parameter, not the parameters themselves, so that a
    vocabulary is not repeated in a thousand files.

    Args:
        path: the file; its folder must exist.
        moments: the moments to write.
        about: further entries of the header, which identify the data; `load_part` compares them.

    Raises:
        ConfigError: the file cannot be written.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    arrays = {name: np.asarray(array, order="C") for name, array in moments.arrays().items()}
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "arrays": _digest_of_arrays(arrays),
        **_described(moments),
        **about,
    }
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        save_file(arrays, fresh, metadata={name: header[name] for name in sorted(header)})
        os.replace(fresh, path)
    except (OSError, SafetensorError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"cannot write the checkpoint: {reason}", path=path) from error
    finally:
        fresh.unlink(missing_ok=True)


def load_part(path: Path, empty: M, about: Mapping[str, str]) -> M:
    """Return the moments that `save_part` wrote to a file.

    Args:
        path: the file.
        empty: empty moments of the same class and parameters.
        about: entries that the header must have, as given to `save_part`.

    Raises:
        ModelError: the file is truncated, changed, has no moments, or has moments of other data or
            parameters; the message says which.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT or header.get("format_version") != FORMAT_VERSION:
                raise ModelError("holds no moments of this version", path=path, hint=_HINT)
            for name, value in {**_described(empty), **about}.items():
                if header.get(name) != value:
                    what = f"these moments are of another {name.replace('_', ' ')}"
                    raise ModelError(what, path=path, hint=_HINT)
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"truncated or no moments at all: {error}", path=path, hint=_HINT) from error
    if header.get("arrays") != _digest_of_arrays(arrays):
        raise ModelError("corrupt: the SHA-256 of its arrays is another", path=path, hint=_HINT)
    return empty.restored(arrays)


def _described(moments: Moments[Any]) -> dict[str, str]:
    """Return the header entries that identify moments: their class name and a digest of each parameter.

    The name of the class's module is left out, so that files stay valid if the class moves to another module.
    """
    parameters = {f"parameter {name}": _digest(value) for name, value in moments.parameters().items()}
    return {"class": type(moments).__name__, **parameters}


def _digest(value: object) -> str:
    if isinstance(value, np.ndarray):
        return _digest_of_arrays({"": value})
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _digest_of_arrays(arrays: Mapping[str, Array]) -> str:
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        digest.update(f"{name}\0{array.dtype}\0{array.shape}\0".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()


# ---------------------------------------------------------------------------------------------------------
# Partitions of a pass


@dataclass(frozen=True)
class PassCheckpoint:
    """Stored moments of the finished partitions (parts of the corpus) of one pass over the data.

    Only partitions of files are stored: data in memory has no name by which another run could recognise it.

    Args:
        folder: folder of the pass, visible to all workers.
        batch_size: number of examples observed at a time; sums of floats depend on it.
    """

    folder: Path
    batch_size: int

    def load(self, number: int, partition: Partition[Any], empty: M) -> M | None:
        """Return the stored moments of a partition, or None if there are none.

        Args:
            number: index of the partition in the pass.
            partition: the partition.
            empty: empty moments of the same class and parameters.
        """
        path = self._path(number)
        source = source_of(partition)
        return load_part(path, empty, self._about(source)) if source and path.exists() else None

    def save(self, number: int, partition: Partition[Any], moments: Moments[Any]) -> None:
        """Store the moments of a partition; ``number`` is its index in the pass."""
        source = source_of(partition)
        if source:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_part(self._path(number), moments, self._about(source))

    def load_total(self, partitions: Sequence[Partition[Any]], empty: M) -> M | None:
        """Return the stored sum of the moments of all partitions, or None if there is none."""
        path, sources = self.folder / _TOTAL, _sources(partitions)
        return load_part(path, empty, self._about(sources)) if sources and path.exists() else None

    def save_total(self, partitions: Sequence[Partition[Any]], total: Moments[Any]) -> None:
        """Store the sum of the moments of all partitions, and delete the files of single partitions.

        If the sum does not fit in limited memory, so that part of it was spilled to disk, nothing is stored
        or deleted.
        """
        sources = _sources(partitions)
        if sources and not total.is_spilled:
            self.folder.mkdir(parents=True, exist_ok=True)
            save_part(self.folder / _TOTAL, total, self._about(sources))
            for part in self.folder.glob("[0-9]*.safetensors"):
                part.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self.folder / f"{number:05d}.safetensors"

    def _about(self, source: str) -> dict[str, str]:
        return {"data": source, "batch_size": str(self.batch_size)}


_TOTAL = "total.safetensors"


def source_of(partition: Partition[Any]) -> str:
    """Describe a partition by its file, size, modification time and reader; "" if it has no file."""
    where = partition.document
    try:
        status = os.stat(where)
        state = f"{status.st_size}:{status.st_mtime_ns}"
    except (OSError, ValueError):
        if "://" not in where:
            return ""
        state = ""
    how = re.sub(r" at 0x[0-9a-f]+", "", exact(partition.read))
    return f"{where}:{partition.document_index}:{partition.start}:{state}:{how}"


def _sources(partitions: Sequence[Partition[Any]]) -> str:
    sources = [source_of(each) for each in partitions]
    return _digest(sources) if all(sources) else ""


# ---------------------------------------------------------------------------------------------------------
# Passes of a run


class Checkpoint:
    """Checkpoint folder, which stores results of passes over the data, so that a run can be resumed.

    Passes that accumulate moments, and functions mapped over examples, are numbered in the order in which
    they run.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = resolved(folder)
        self._n_passes = self._n_maps = 0
        _check_folder(self.folder)

    def next_pass(self, moments: Moments[Any], batch_size: int) -> PassCheckpoint:
        """Return the checkpoint of the next pass over the data; passes are numbered by calls of this method.

        Args:
            moments: empty moments of the pass; the name of their class is part of the folder's name.
            batch_size: number of examples observed at a time.
        """
        self._n_passes += 1
        name = f"pass-{self._n_passes}-{type(moments).__name__}"
        return PassCheckpoint(self.folder / name, batch_size)

    def drawn(self, noun: str, draw: Callable[[], str]) -> str:
        """Return a random value: the one that an interrupted run drew, or a new one, which is stored.

        Args:
            noun: what the value is, such as ``salt``; the name of its file.
            draw: function that returns a new value, of hexadecimal digits.

        Raises:
            ConfigError: the file has been changed.
        """
        path = self.folder / "pass-0" / noun
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            fresh = path.with_name(f".{noun}.tmp")
            fresh.write_text(draw(), encoding="ascii")
            os.replace(fresh, path)
        value = path.read_text(encoding="ascii", errors="replace")
        if not re.fullmatch("([0-9a-f]{2})+", value):
            raise ConfigError(f"does not hold a {noun}", path=path, hint=_HINT)
        return value

    def next_map(self) -> Path:
        """Return the path of a new file for the results of a function that is mapped over examples.

        Files are numbered in the order of calls, so that a later run finds the results of the same function.
        """
        self._n_maps += 1
        return self.folder / f"map-{self._n_maps}.jsonl"

    def remove(self) -> None:
        """Delete all stored moments and results, and then the folder if it is empty."""
        for each in self.folder.glob("pass-*"):
            shutil.rmtree(each, ignore_errors=True)
        for each in (*self.folder.glob("map-*.jsonl"), *self.folder.glob(".map-*.tmp")):
            each.unlink(missing_ok=True)
        if self.folder.exists() and not any(self.folder.iterdir()):
            self.folder.rmdir()


def _check_folder(folder: Path) -> None:
    try:
        if folder.exists() and not folder.is_dir():
            raise ConfigError("is a file, not a folder for checkpoints", path=folder)
        strangers = sorted(
            each.name for each in folder.glob("*") if not each.name.startswith(("pass-", "map-", ".map-"))
        )
        if strangers:
            what = f"the folder holds other things than checkpoints, such as {strangers[0]}"
            raise ConfigError(what, path=folder, hint="choose another folder")
        for each in folder.rglob("*"):
            if not (each.is_dir() or each.is_file()):  # opening a pipe would block
                raise ConfigError("is no file, but a pipe or a device", path=each, hint=_HINT)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write here: {error.strerror}", path=folder) from error
