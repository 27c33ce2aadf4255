"""Files by address, ``s3://bucket/name``: whatever fsspec has a file system for."""

from __future__ import annotations

from glob import has_magic
from posixpath import basename
from typing import Any, BinaryIO, cast

import fsspec

from spectralnlp.errors import InputError


class FsspecFiles:
    """The file system of :class:`spectralnlp.runtime.FileSystem`, by fsspec.

    Gzip is seen by the core from the first bytes; credentials and options are fsspec's own, in its
    configuration or the environment.

    Examples:
        >>> from spectralnlp_dask import FsspecFiles
        >>> len(FsspecFiles().expand("memory://nothing-here-*"))
        0
    """

    def open(self, address: str) -> BinaryIO:
        """A stream of bytes.

        Raises:
            OSError: the file is missing or unreadable.
            InputError: there is no such file system, or a package that it needs.
        """
        files, path = _file_system(address)
        return cast(BinaryIO, files.open(path, "rb"))

    def expand(self, address: str) -> list[str]:
        """Files that an address stands for: itself, a folder's without hidden ones, or a pattern's."""
        files, path = _file_system(address)
        try:
            if files.isdir(path):
                found = files.find(path)
                found = [each for each in found if not _is_hidden(each.removeprefix(path))]
            elif has_magic(path):
                found = [each for each in files.glob(path) if not files.isdir(each)]
            else:
                found = [path] if files.exists(path) else []
        except OSError as error:
            raise InputError(f"cannot be listed: {error.strerror or error}", path=address) from error
        return sorted(files.unstrip_protocol(each) for each in found)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/")) or not basename(path)


def _file_system(address: str) -> tuple[Any, str]:
    try:
        files, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(f"no file system for this address: {error}", path=address) from error
    return files, path
