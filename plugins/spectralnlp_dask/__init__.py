"""Execution engine that trains estimators on Dask workers, on many machines or on this one."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp_dask.engine import DaskEngine
    from spectralnlp_dask.files import FsspecFiles

__all__ = ["DaskEngine", "FsspecFiles"]


def __getattr__(name: str) -> Any:
    # Imported on demand, since distributed takes a second to import.
    match name:
        case "DaskEngine":
            return import_module("spectralnlp_dask.engine").DaskEngine
        case "FsspecFiles":
            return import_module("spectralnlp_dask.files").FsspecFiles
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
