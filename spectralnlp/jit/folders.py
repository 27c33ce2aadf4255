"""Folders in which compiled kernels are cached."""

from __future__ import annotations

import hashlib
from pathlib import Path

from numba.core import config
from numba.misc.appdirs import AppDirs


def cache_folders(package: Path) -> list[Path]:
    """Return the folders that are searched for the kernels of a package, in order.

    These are the package's ``__pycache__`` and a folder in the user's cache. If ``NUMBA_CACHE_DIR`` is set,
    only a folder inside that one is searched.

    Args:
        package: folder of the package.
    """
    digest = hashlib.sha1(str(package).encode(), usedforsecurity=False).hexdigest()
    own = f"{package.name}_{digest}"
    if chosen := getattr(config, "CACHE_DIR", ""):
        return [Path(chosen) / own]
    user = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    return [package / "__pycache__", user / own]
