"""Model folders: arrays in safetensors, the rest in JSON, written whole or not at all.

A folder may also hold the moments that its model was solved from (``moments.safetensors``,
``moments.json``), so that data can be added and taken out. They are apart from the model, which is the same
to the byte with and without them, and may be deleted.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from spectralnlp import __version__
from spectralnlp.errors import ConfigError, ModelError

FORMAT = "spectralnlp-model"
FORMAT_VERSION = 1
ARRAYS, META, CARD = "arrays.safetensors", "model.json", "README.md"
MOMENTS_FORMAT, MOMENTS_VERSION = "spectralnlp-kept-moments", 1
MOMENTS, MOMENTS_META = "moments.safetensors", "moments.json"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class StoredModel:
    """What a model folder holds.

    Args:
        kind: what the model is, ``parser``.
        metadata: JSON values.
        arrays: by name, as they were saved.
        path: the folder.
        card: the model card, empty where it was taken away.
    """

    kind: str
    metadata: dict[str, Any]
    arrays: dict[str, npt.NDArray[Any]]
    path: Path
    card: str = ""


def save_model(
    path: str | Path,
    *,
    kind: str,
    metadata: Mapping[str, Any],
    arrays: Mapping[str, npt.NDArray[Any]],
    card: str,
    overwrite: bool = True,
) -> None:
    """Write a model folder: ``arrays.safetensors``, ``model.json`` and the model card, ``README.md``.

    The folder is written under another name beside its place and then renamed: an error or an interrupt
    leaves nothing half-written, and the model that was there before as it was. The same content gives the
    same bytes.

    Args:
        path: the folder to make; may exist if it is empty or holds a model and nothing else.
        kind: what the model is, for the loader.
        metadata: JSON values.
        arrays: numbers only, by name.
        card: the model card, Markdown.
        overwrite: whether a model that is there may be replaced.

    Raises:
        ConfigError: the place cannot be written, or is taken.
    """
    with staged(path, overwrite=overwrite) as fresh:
        fresh.mkdir(parents=True)
        _write(fresh, kind, metadata, arrays, card)


@contextmanager
def staged(path: str | Path, *, overwrite: bool = True) -> Iterator[Path]:
    """A folder to write, not yet there, that takes the place of ``path`` when the block ends without error.

    Args:
        path: the folder to make; may exist if it is empty or holds a model and nothing else.
        overwrite: whether a model that is there may be replaced.

    Raises:
        ConfigError: the place cannot be written, or is taken.
    """
    check_writable(path, overwrite=overwrite)
    target = Path(path).resolve()
    fresh = _sibling(target)
    try:
        yield fresh
        _replace(fresh, target)
    except OSError as error:
        raise ConfigError(f"cannot write the model: {error.strerror or error}", path=path) from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def load_model(path: str | Path) -> StoredModel:
    """Read a model folder.

    Raises:
        ModelError: it is missing, cut short, changed since it was written, or of another format version.
    """
    folder = Path(path)
    header = _read_header(folder)
    try:
        arrays = _read_arrays(folder / ARRAYS, header["arrays"], META)
        card = (folder / CARD).read_text(encoding="utf-8") if (folder / CARD).exists() else ""
        return StoredModel(header["kind"], header["metadata"], arrays, folder, card)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path=folder / CARD) from error
    except (KeyError, TypeError) as error:
        raise ModelError(f"not a model: {error}", path=folder) from error


def save_moments(folder: Path, metadata: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write moments beside the model that they gave; see `load_moments`.

    Args:
        folder: of the model; one that is `staged`, for the two files are not written as one.
        metadata: JSON values.
        arrays: numbers only, by name.
    """
    described = _write_arrays(folder / MOMENTS, arrays)
    header = {
        "format": MOMENTS_FORMAT,
        "format_version": MOMENTS_VERSION,
        "spectralnlp": __version__,
        "model": _sha256(folder / META),
        "arrays": described,
        "metadata": metadata,
    }
    (folder / MOMENTS_META).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")


def load_moments(path: str | Path) -> tuple[dict[str, Any], dict[str, Array]] | None:
    """Metadata and arrays of the moments beside a model; None if it has none.

    Raises:
        ModelError: they are cut short, changed, of another model or another format version.
    """
    folder = Path(path)
    header = read_moments_header(folder)
    if header is None:
        return None
    try:
        if header["model"] != _sha256(folder / META):
            hint = "train again with --keep-moments"
            raise ModelError("moments of another model than lies beside them", path=folder, hint=hint)
        return header["metadata"], _read_arrays(folder / MOMENTS, header["arrays"], MOMENTS_META)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path=folder / META) from error
    except (KeyError, TypeError) as error:
        raise ModelError(f"no moments: {error!r}", path=folder / MOMENTS_META) from error


def read_moments_header(folder: Path) -> dict[str, Any] | None:
    """What ``moments.json`` says; None if there is none.

    Raises:
        ModelError: it is corrupt, foreign or of another format version.
    """
    path = folder / MOMENTS_META
    if not path.exists():
        if (folder / MOMENTS).exists():
            raise ModelError(f"moments without their {MOMENTS_META}", path=folder / MOMENTS)
        return None
    header = _read_json(path)
    if not isinstance(header, dict) or header.get("format") != MOMENTS_FORMAT:
        raise ModelError("not the moments of a spectralnlp model", path=path)
    version = header.get("format_version")
    if version != MOMENTS_VERSION:
        what = f"moments of format {version}, and this is spectralnlp {__version__}, which reads"
        raise ModelError(f"{what} {MOMENTS_VERSION}", path=path, hint="train again with --keep-moments")
    return header


def kind_of(path: str | Path) -> str:
    """What the model in a folder is, by its header alone; errors as of `load_model`."""
    return str(_read_header(Path(path)).get("kind"))


def check_writable(path: str | Path, *, overwrite: bool = True) -> None:
    """Find out before the work whether a model can be written here; leaves nothing behind.

    Raises:
        ConfigError: the place cannot be written, is taken by something that is not a model, or by a model
            that may not be overwritten.
    """
    target = Path(path).resolve()
    try:
        if target.exists():
            _check_replaceable(target, path, overwrite)
        above = next(folder for folder in target.parents if folder.exists())
        probe = _sibling(above / target.name)
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise ConfigError(f"cannot write here: {error.strerror}", path=path) from error


def _check_replaceable(target: Path, path: str | Path, overwrite: bool) -> None:
    if not target.is_dir():
        raise ConfigError("is a file, not a folder for a model", path=path, hint="choose another name")
    strangers = sorted({each.name for each in target.iterdir()} - _KNOWN)
    if strangers:
        what = f"the folder holds other things than a model, such as {strangers[0]}"
        raise ConfigError(what, path=path, hint="choose another folder")
    if (target / META).exists() and not overwrite:
        raise ConfigError("a model is here already", path=path, hint="choose another folder or overwrite")


_KNOWN = {ARRAYS, META, CARD, MOMENTS, MOMENTS_META}


def _sibling(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")


def _write(
    folder: Path, kind: str, metadata: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]], card: str
) -> None:
    described = _write_arrays(folder / ARRAYS, arrays)
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "spectralnlp": __version__,
        "kind": kind,
        "arrays": described,
        "metadata": metadata,
    }
    (folder / META).write_text(json.dumps(header, indent=1) + "\n", encoding="utf-8")
    (folder / CARD).write_text(card, encoding="utf-8")


def _write_arrays(path: Path, arrays: Mapping[str, Array]) -> dict[str, Any]:
    """Write arrays; returns what `_read_arrays` knows the file by."""
    from safetensors.numpy import save

    # safetensors writes an array's buffer as it lies, so each must lie in C order.
    path.write_bytes(save({name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}))
    return {"size": path.stat().st_size, "sha256": _sha256(path)}


def _read_arrays(path: Path, described: Mapping[str, Any], where: str) -> dict[str, Array]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    hint = "copy or train the model again"
    try:
        size, digest = path.stat().st_size, _sha256(path)
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


def _replace(fresh: Path, target: Path) -> None:
    """Rename ``fresh`` to ``target``; what was there comes back if that fails."""
    if not target.exists():
        fresh.rename(target)
        return
    old = _sibling(target)
    try:
        target.rename(old)
        fresh.rename(target)
    except BaseException:
        if old.exists() and not target.exists():
            old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _read_header(folder: Path) -> dict[str, Any]:
    path = folder / META
    if not path.exists():
        what = "no model here" if folder.exists() else "no such model"
        raise ModelError(what, path=folder, hint=f"a model is a folder with {META}")
    header = _read_json(path)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelError("not a spectralnlp model", path=path)
    version = header.get("format_version")
    if version != FORMAT_VERSION:
        what = f"model format {version}, and this is spectralnlp {__version__}, which reads {FORMAT_VERSION}"
        hint = (
            "upgrade spectralnlp" if isinstance(version, int) and version > FORMAT_VERSION else "train again"
        )
        raise ModelError(what, path=path, hint=hint)
    return header


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path=path) from error
    except ValueError as error:
        raise ModelError(f"truncated or corrupt: {error}", path=path) from error


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
