"""Reading and atomic writing of model folders: arrays in safetensors, all other values in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spectralnlp import __version__
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, ModelError, resolved
from spectralnlp.storage.arrays import Array, StoredArrays
from spectralnlp.storage.files import (
    check_version,
    read_arrays,
    read_json,
    sha256,
    write_arrays,
    write_file,
    write_json,
)
from spectralnlp.storage.replacing import hidden_sibling, staged_folder
from spectralnlp.storage.snapshots import Snapshot, read_folder
from spectralnlp.storage.values import StoredValues

FORMAT = "spectralnlp-model"
FORMAT_VERSION = 2
ARRAYS, META, CARD = "arrays.safetensors", "model.json", "README.md"
MOMENTS, MOMENTS_META = "moments.safetensors", "moments.json"
_KNOWN = {ARRAYS, META, CARD, MOMENTS, MOMENTS_META}


@dataclass(frozen=True, kw_only=True)
class StoredModel:
    """The content of a model folder.

    Attributes:
        kind: the model's task, such as ``parsing``.
        metadata: JSON values.
        arrays: the arrays by name, in the dtypes of the file.
        path: the folder.
        card: the model card; empty if the file is missing.
        digest: SHA-256 of ``model.json``, which identifies the model in the header of its moments.
    """

    kind: str
    metadata: dict[str, Any]
    arrays: dict[str, Array]
    path: Path
    card: str = ""
    digest: str = ""

    __repr__ = one_line

    @property
    def checked(self) -> StoredArrays:
        """The arrays, as an object that validates each array when it is read."""
        return StoredArrays(self.arrays, self.path / ARRAYS)

    @property
    def values(self) -> StoredValues:
        """The metadata, as an object that validates each value when it is read."""
        return StoredValues(self.metadata, self.path / META)


def save_model(
    path: str | Path,
    *,
    kind: str,
    metadata: Mapping[str, Any],
    arrays: Mapping[str, Array],
    card: str,
    overwrite: bool = True,
) -> None:
    """Write a model folder: ``arrays.safetensors``, ``model.json`` and the model card, ``README.md``.

    The folder is written under a hidden name and then exchanged with the old folder atomically. An error or
    an interrupt leaves the old model as it was, and concurrent readers get either the old model or the new
    one. The same content gives the same bytes.

    Args:
        path: the folder to write; may exist if it is empty or holds a model and nothing else.
        kind: the model's task, by which the loader finds its class.
        metadata: JSON values.
        arrays: numeric arrays by name.
        card: the model card, in Markdown.
        overwrite: whether an existing model may be replaced.

    Raises:
        ConfigError: the folder cannot be written, or exists and may not be replaced.
    """
    with staged(path, overwrite=overwrite) as fresh:
        fresh.mkdir(parents=True)
        _write(fresh, kind, metadata, arrays, card)


@contextmanager
def staged(path: str | Path, *, overwrite: bool = True) -> Iterator[Path]:
    """Yield a path to write a new model folder to, which replaces ``path`` when the ``with`` block ends.

    If the block raises an error, ``path`` stays as it was.

    Args:
        path: the folder to write; may exist if it is empty or holds a model and nothing else.
        overwrite: whether an existing model may be replaced.

    Raises:
        ConfigError: the folder cannot be written, or exists and may not be replaced.
    """
    check_writable(path, overwrite=overwrite)
    try:
        with staged_folder(resolved(path)) as fresh:
            try:
                yield fresh
            except ConfigError as error:
                if error.path is None or not Path(error.path).is_relative_to(fresh):
                    raise
                # The user does not know the hidden name: name the target.
                raise ConfigError(error.what, path=path, hint=error.hint) from error
    except OSError as error:
        raise ConfigError(f"cannot write the model: {error.strerror or error}", path=path) from error


def load_model(path: str | Path) -> StoredModel:
    """Read a model folder.

    Raises:
        ModelError: the model is missing, truncated, changed since it was written, or of another format
            version.
    """
    return read_folder(Path(path), _read_model)


def _read_model(folder: Snapshot) -> StoredModel:
    header = read_model_json(folder)
    return StoredModel(
        kind=header.take("kind", str),
        metadata=header.take("metadata", Mapping[str, Any]),
        arrays=read_arrays(folder, ARRAYS, header.part("arrays")),
        path=folder.path,
        card=folder.read(CARD).decode("utf-8", "replace") if folder.has(CARD) else "",
        digest=sha256(folder.read(META)),
    )


def kind_of(path: str | Path) -> str:
    """Return the task of the model in a folder, from its header alone; errors as in `load_model`."""
    return str(read_header(Path(path))["kind"])


def check_writable(path: str | Path, *, overwrite: bool = True) -> None:
    """Check that a model can be written to a path, without changing anything, before the model is trained.

    Raises:
        ConfigError: the path cannot be written, holds something that is not a model, or holds a model that
            may not be overwritten.
    """
    target = resolved(path)
    try:
        if target.exists():
            _check_replaceable(target, path, overwrite)
        above = next(folder for folder in target.parents if folder.exists())
        probe = hidden_sibling(above / target.name)
        probe.mkdir()
        with suppress(FileNotFoundError):  # another writer has removed it as a leftover
            probe.rmdir()
    except OSError as error:
        raise ConfigError(f"cannot write here: {error.strerror}", path=path) from error


def _check_replaceable(target: Path, path: str | Path, overwrite: bool) -> None:
    if not target.is_dir():
        raise ConfigError("is a file, not a folder for a model", path=path, hint="choose another name")
    strangers = sorted({each.name for each in target.iterdir()} - _KNOWN)
    if strangers:
        what = f"the folder holds files that are not part of a model, such as {strangers[0]}"
        raise ConfigError(what, path=path, hint="choose another folder")
    if (target / META).exists() and not overwrite:
        raise ConfigError("a model is here already", path=path, hint="choose another folder, or `overwrite`")


def _write(
    folder: Path, kind: str, metadata: Mapping[str, Any], arrays: Mapping[str, Array], card: str
) -> None:
    description = write_arrays(folder / ARRAYS, arrays)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "spectralnlp": __version__,
        "kind": kind,
        "arrays": description,
        "metadata": metadata,
    }
    write_json(folder / META, header)
    write_file(folder / CARD, card.encode("utf-8", "replace"))


def read_header(folder: Path) -> dict[str, Any]:
    """Return the content of ``model.json``; errors as in `load_model`."""
    return dict(read_folder(folder, read_model_json))


def read_model_json(folder: Snapshot) -> StoredValues:
    """Return the content of ``model.json``, after validating its format, kind and metadata."""
    if not folder.has(META):
        raise ModelError("no model here", path=folder.path, hint=f"a model is a folder with {META}")
    header = read_json(folder, META)
    if header.get("format") != FORMAT:
        raise ModelError("not a spectralnlp model", path=header.path)
    check_version(header, FORMAT_VERSION, "model format", hint="train again")
    header.take("kind", str)
    header.part("metadata")
    return header
