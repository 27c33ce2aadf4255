"""Atomic replacement of a folder, by one writer at a time.

The new folder is written beside its target under a hidden name, flushed to disk, and exchanged with the
target in one step, so that readers find either the old folder or the new one. Hidden folders that a killed
writer left behind are removed by the next writer.
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

# Suffixes of hidden names: a folder that is being written or removed; and, on systems that cannot exchange
# folders, the old model while it is being replaced.
_FRESH, _OLD = ".tmp", ".old"


@contextmanager
def staged_folder(target: Path, patience: float = 120.0) -> Iterator[Path]:
    """Yield a path to write a new folder to, which replaces ``target`` when the ``with`` block ends.

    If the block raises an error, ``target`` stays as it was.

    Args:
        target: absolute path of the folder to replace; it need not exist.
        patience: seconds to wait for another process that writes here.

    Raises:
        ConfigError: another process was still writing here after ``patience`` seconds.
        OSError: the operating system reports an error.
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
    """Return an unused path of a hidden file or folder beside a path."""
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{suffix}")


def _replace(fresh: Path, target: Path) -> None:
    """Move ``fresh`` to ``target``, and remove what was there."""
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
    """Remove hidden folders that killed writers left beside ``target``.

    If a writer was killed after it moved the old folder away and before it moved the new one to its place,
    the old folder is restored.
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
    """Wait until the entries of a folder are on disk, if the system supports that."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# ---------------------------------------------------------------------------------------------------------
# Exchanging two paths


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two paths atomically; return False if the system or file system cannot do so."""
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
    """Return the C library function that exchanges paths (None if there is none), and its arguments."""
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


# Folders whose lock this thread holds: a folder within a staged one is written under the same lock.
_held = threading.local()


@contextmanager
def _lock(folder: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a folder, so that one process writes to it at a time; no lock if unsupported."""
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
    """Lock a folder; return a descriptor that holds the lock until closed, None if locks are unsupported."""
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
