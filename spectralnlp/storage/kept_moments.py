"""Write and read the moments that are kept beside a model: ``moments.safetensors`` and ``moments.json``.

With the moments, which are training statistics, data can be added to the model and removed from it. They are
in separate files, which may be deleted: the files of the model do not depend on them. Their arrays are
deflated (see `packing`) in format 2; in format 1, which is still read, they are not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spectralnlp import __version__
from spectralnlp.errors import ModelError
from spectralnlp.storage.arrays import Array, StoredArrays
from spectralnlp.storage.files import check_version, read_arrays, read_json, sha256, write_arrays, write_json
from spectralnlp.storage.folders import META, MOMENTS, MOMENTS_META
from spectralnlp.storage.packing import Packed, pack, unpack
from spectralnlp.storage.snapshots import Snapshot, read_folder
from spectralnlp.storage.values import StoredValues

MOMENTS_FORMAT, MOMENTS_VERSION = "spectralnlp-kept-moments", 2
_HINT = "train again with `keep_moments`"


def save_kept_moments(
    folder: Path, metadata: Mapping[str, Any], arrays: Mapping[str, Array], model: Path | None = None
) -> None:
    """Write moments (training statistics) beside the model that was learned from them.

    Args:
        folder: the folder to write to. If it comes from `staged`, both files are replaced at once.
        metadata: JSON values.
        arrays: numeric arrays by name.
        model: folder of the model, if it is not ``folder``.
    """
    written, packed = pack(arrays)
    header = {
        "format": MOMENTS_FORMAT,
        "format_version": MOMENTS_VERSION,
        "spectralnlp": __version__,
        "model": model_digest(model or folder),
        "arrays": {**write_arrays(folder / MOMENTS, written), "packed": packed},
        "metadata": metadata,
    }
    write_json(folder / MOMENTS_META, header)


def model_digest(folder: Path) -> str:
    """Return the hash that identifies a model in the header of its training statistics (moments).

    Raises:
        ModelError: the folder holds no model.
    """
    return read_folder(folder, lambda opened: sha256(opened.read(META)))


def load_kept_moments(
    path: str | Path, model: Path | None = None
) -> tuple[StoredValues, StoredArrays] | None:
    """Read metadata and arrays of the moments (training statistics) beside a model; None if there are none.

    Args:
        path: the folder of the moments.
        model: folder of the model, if it is not ``path``.

    Raises:
        ModelError: the moments are truncated, changed, of another model or of another format version.
    """
    digest = None if model is None else model_digest(model)
    return read_folder(Path(path), lambda opened: _read_moments(opened, digest))


def _read_moments(folder: Snapshot, digest: str | None) -> tuple[StoredValues, StoredArrays] | None:
    header = _read_header(folder)
    if header is None:
        return None
    if header.take("model", str) != (digest or sha256(folder.read(META))):
        raise ModelError("the moments belong to another model", path=folder.path, hint=_HINT)
    description, path = header.part("arrays"), folder.path / MOMENTS
    arrays = StoredArrays(read_arrays(folder, MOMENTS, description), path)
    packed = description.take("packed", Mapping[str, Packed], {})
    return header.part("metadata"), StoredArrays(unpack(arrays, packed), path)


def read_kept_header(folder: Path) -> StoredValues | None:
    """Return the content of ``moments.json``, the header of kept statistics; None if there is no such file.

    Raises:
        ModelError: the file is corrupt, not a header of moments, or of another format version.
    """
    return read_folder(folder, _read_header) if folder.is_dir() else None


def _read_header(folder: Snapshot) -> StoredValues | None:
    if not folder.has(MOMENTS_META):
        if folder.has(MOMENTS):
            raise ModelError(f"moments without their {MOMENTS_META}", path=folder.path / MOMENTS)
        return None
    header = read_json(folder, MOMENTS_META)
    if header.get("format") != MOMENTS_FORMAT:
        raise ModelError("not the moments of a spectralnlp model", path=header.path)
    check_version(header, MOMENTS_VERSION, "moments of format", hint=_HINT, oldest=1)
    return header
