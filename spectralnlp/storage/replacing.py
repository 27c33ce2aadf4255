"""One folder in the place of another: whole or not at all, by one writer at a time.

A folder is written beside its place under a hidden name, flushed to the disk, and exchanged with what is
there in one step, so that readers find the old one or the new one. The next writer removes what a killed one
left under a hidden name.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import re
import secrets
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spectralnlp.errors import ConfigError

# Suffixes of hidden names: a folder that is being written or goes, and a model whose place is being taken
# where folders cannot be exchanged.
_FRESH, _OLD = ".tmp", ".old"


@contextmanager
def staged_folder(target: Path, patience: float = 120.0) -> Iterator[Path]:
    """A folder to write, not yet there, that takes the place of ``target`` when the block ends without error.

    Args:
        target: an absolute path; what is there must be a folder, or nothing.
        patience: seconds to wait for another process that writes here.

    Raises:
        ConfigError: another process has been writing here for too long.
        OSError: the system refuses.
    """
    above = next(folder for folder in target.parents if folder.is_dir())
    with _lock(above, patience):
        _clean_up(target)
        fresh = hidden_sibling(target)
        try:
            yield fresh
            _replace(fresh, target)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


def hidden_sibling(path: Path, suffix: str = _FRESH) -> Path:
    """A name beside a path that nobody has."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}")


def _replace(fresh: Path, target: Path) -> None:
    """Put ``fresh`` in the place of ``target``, and remove what was there."""
    _flush_folder(fresh)
    if not target.exists():
        fresh.rename(target)
    elif not _exchange(fresh, target):
        old = hidden_sibling(target, _OLD)
        try:
            target.rename(old)
            fresh.rename(target)
        except BaseException:
            if old.exists() and not target.exists():
                old.rename(target)
            raise
        shutil.rmtree(old, ignore_errors=True)
    _flush_folder(target.parent)


def _clean_up(target: Path) -> None:
    """Remove what killed writers left; a model that had to make way comes back if none took its place.

    What was staged within a staged folder has two hidden names, one around the other.
    """
    name, hidden = re.escape(target.name), r"\.[0-9a-f]{8}\.(tmp|old)"
    pattern = re.compile(rf"\.{name}{hidden}|\.\.{name}{hidden}{hidden}")
    if not target.parent.is_dir():
        return
    for each in target.parent.iterdir():
        if pattern.fullmatch(each.name) is None:
            continue
        if each.suffix == _OLD and not target.exists():
            each.rename(target)
        else:
            shutil.rmtree(each, ignore_errors=True)


def _flush_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---------------------------------------------------------------------------------------------------------
# The exchange of two names


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where the system or the file system has no such step."""
    function, arguments = _exchanger(os.fsencode(one), os.fsencode(other))
    if function is None:
        return False
    if function(*arguments) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM):
        return False
    raise OSError(number, os.strerror(number))


def _exchanger(one: bytes, other: bytes) -> tuple[ctypes._NamedFuncPointer | None, tuple[object, ...]]:
    """The function of the C library that exchanges names, and its arguments."""
    system = platform.system()
    if system == "Linux":  # renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)
        return _c_function("renameat2"), (-100, one, -100, other, 2)
    if system == "Darwin":  # with RENAME_SWAP
        return _c_function("renamex_np"), (one, other, 2)
    return None, ()


def _c_function(name: str) -> ctypes._NamedFuncPointer | None:
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name, None)
    except OSError:
        return None


# ---------------------------------------------------------------------------------------------------------
# The lock


# Folders whose lock this thread has: a folder within a staged one is written under the same lock.
_held = threading.local()


@contextmanager
def _lock(folder: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a folder, so that one process at a time writes into it; none where there are none."""
    mine: set[Path] = _held.__dict__.setdefault("folders", set())
    if any(folder == each or each in folder.parents for each in mine):
        yield
        return
    descriptor = _locked(folder, patience)
    mine.add(folder)
    try:
        yield
    finally:
        mine.discard(folder)
        if descriptor is not None:
            os.close(descriptor)


def _locked(folder: Path, patience: float) -> int | None:
    """A descriptor of the folder that holds its lock until it is closed; None where folders have no locks."""
    try:
        import fcntl
    except ImportError:
        return None
    descriptor = os.open(folder, os.O_RDONLY)
    end = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(descriptor)
                what = f"another process has been writing models here for {patience:.0f} seconds"
                raise ConfigError(what, path=folder, hint="wait for it, or end it") from None
            time.sleep(0.02)
        except OSError:
            os.close(descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
