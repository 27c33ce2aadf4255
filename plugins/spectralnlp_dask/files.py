"""Open files by URL, such as ``s3://bucket/name``, in any file system that fsspec supports."""

from __future__ import annotations

from glob import has_magic
from posixpath import basename
from typing import Any, BinaryIO, cast

import fsspec

from spectralnlp.errors import InputError


class FsspecFiles:
    """Implementation of :class:`spectralnlp.runtime.FileSystem` by fsspec.

    Credentials and options are those of fsspec, from its configuration or the environment. Gzipped files are
    recognised later, by their first bytes.

    Examples:
        >>> from spectralnlp_dask import FsspecFiles
        >>> len(FsspecFiles().expand("memory://nothing-here-*"))
        0
    """

    def open(self, address: str) -> BinaryIO:
        """Open a file as a stream of bytes.

        Raises:
            OSError: the file is missing or unreadable.
            InputError: there is no such file system, or a package that it needs is missing.
        """
        files, path = _file_system(address)
        return cast(BinaryIO, files.open(path, "rb"))

    def expand(self, address: str) -> list[str]:
        """List the files of a URL: the file itself, a folder's visible files, or a pattern's matches."""
        files, path = _file_system(address)
        try:
            if files.isdir(path):
                paths = files.find(path)
                paths = [each for each in paths if not _is_hidden(each.removeprefix(path))]
            elif has_magic(path):
                paths = [each for each in files.glob(path) if not files.isdir(each)]
            else:
                paths = [path] if files.exists(path) else []
        except OSError as error:
            raise InputError(f"cannot be listed: {error.strerror or error}", path=address) from error
        return sorted(files.unstrip_protocol(each) for each in paths)


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/")) or not basename(path)


def _file_system(address: str) -> tuple[Any, str]:
    try:
        files, path = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise InputError(f"no file system for this address: {error}", path=address) from error
    return files, path
