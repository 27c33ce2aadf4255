"""The moments beside a model that was solved from them: ``moments.safetensors`` and ``moments.json``.

With them, data can be added to the model and taken out. They are apart from the model, which is the same to
the byte with and without them, and may be deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spectralnlp import __version__
from spectralnlp.errors import ModelError
from spectralnlp.storage.arrays import Array, Arrays
from spectralnlp.storage.files import check_version, read_arrays, read_json, sha256, write_arrays, write_json
from spectralnlp.storage.folders import META, MOMENTS, MOMENTS_META

MOMENTS_FORMAT, MOMENTS_VERSION = "spectralnlp-kept-moments", 1
_HINT = "train again with `keep_moments`"


def save_kept_moments(folder: Path, metadata: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write moments beside the model that they gave; see `load_kept_moments`.

    Args:
        folder: of the model; one that is `staged`, for the two files are not written as one.
        metadata: JSON values.
        arrays: numbers only, by name.
    """
    described = write_arrays(folder / MOMENTS, arrays)
    header = {
        "format": MOMENTS_FORMAT,
        "format_version": MOMENTS_VERSION,
        "spectralnlp": __version__,
        "model": sha256(folder / META),
        "arrays": described,
        "metadata": metadata,
    }
    write_json(folder / MOMENTS_META, header)


def load_kept_moments(path: str | Path) -> tuple[dict[str, Any], Arrays] | None:
    """Metadata and arrays of the moments beside a model; None if it has none.

    Raises:
        ModelError: they are cut short, changed, of another model or another format version.
    """
    folder = Path(path)
    header = read_kept_header(folder)
    if header is None:
        return None
    try:
        if header["model"] != sha256(folder / META):
            raise ModelError("moments of another model than lies beside them", path=folder, hint=_HINT)
        return header["metadata"], read_arrays(folder / MOMENTS, header["arrays"], MOMENTS_META)
    except OSError as error:
        raise ModelError(f"cannot be read: {error.strerror}", path=folder / META) from error
    except (KeyError, TypeError) as error:
        raise ModelError(f"no moments: {error!r}", path=folder / MOMENTS_META) from error


def read_kept_header(folder: Path) -> dict[str, Any] | None:
    """The content of ``moments.json``; None if there is none.

    Raises:
        ModelError: it is corrupt, foreign or of another format version.
    """
    path = folder / MOMENTS_META
    if not path.exists():
        if (folder / MOMENTS).exists():
            raise ModelError(f"moments without their {MOMENTS_META}", path=folder / MOMENTS)
        return None
    header = read_json(path)
    if not isinstance(header, dict) or header.get("format") != MOMENTS_FORMAT:
        raise ModelError("not the moments of a spectralnlp model", path=path)
    check_version(header, MOMENTS_VERSION, path, "moments of format", hint=_HINT)
    return header
