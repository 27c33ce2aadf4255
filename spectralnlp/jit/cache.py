"""Disk cache of compiled kernels that loads them without initialising the compiler.

The files have numba's format, but this cache differs from numba's in two ways:

- Numba initialises its compiler before it loads a kernel, which takes half of the time of a short command.
  This cache loads only the machine code (``library.py``), for which no compiler is needed.
- Numba reads kernels only from a folder that it can also write to. This cache reads every cache folder, and
  writes to the first writable one.

Kernels that are shipped in the wheel (``shipped.py``) are tried last.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile, _Cache
from numba.core.environment import Environment, _rebuild_env, lookup_environment
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from spectralnlp import __version__
from spectralnlp.jit import shipped
from spectralnlp.jit.folders import cache_folders
from spectralnlp.jit.library import loaded_kernel
from spectralnlp.jit.turns import Turn
from spectralnlp.runtime import require_room

# LLVM aborts the process if an allocation fails; these are more bytes than the largest kernel has needed.
_ROOM_TO_LOAD = 1 << 26
_ROOM_TO_COMPILE = 1 << 28

# Modules of numba whose compiled functions run without importing the module. (The modules for hashing and
# typed dictionaries register addresses on import, so they are imported, as numba does.)
_COMPILED_IN = frozenset(
    {
        "numba.cpython.builtins",
        "numba.cpython.listobj",
        "numba.cpython.rangeobj",
        "numba.cpython.slicing",
        "numba.cpython.tupleobj",
        "numba.cpython.unicode",
        "numba.misc.mergesort",
        "numba.misc.quicksort",
        "numba.np.arraymath",
        "numba.np.arrayobj",
        "numba.np.npyimpl",
    }
)

# Errors for an index or a compiled kernel that is truncated or refers to a named tuple that has moved.
_DAMAGED = (EOFError, pickle.UnpicklingError, AttributeError, ImportError, TypeError, ValueError)
_UNREADABLE = (OSError, *_DAMAGED)


class KernelCache(_Cache):
    """Disk cache of one numba function (kernel), compiled for one or more signatures of argument types.

    Args:
        function: Python function of the kernel.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self._enabled = True

    @cached_property
    def files(self) -> list[_KernelFile]:
        """Cache files of the kernel, one for each cache folder, in the order in which they are searched."""
        package = Path(inspect.getfile(self.function)).parent
        folders = [self._shipped_folder] if shipped.is_for_wheels() else cache_folders(package)
        return [file for folder in folders if (file := self._file_in(folder))]

    @cached_property
    def turn(self) -> Turn:
        """Lock by which only one process at a time compiles the kernel; `Turn.end` releases it."""
        files = [] if shipped.is_for_wheels() else self.files  # a wheel needs no lock
        return Turn([file._cache_path for file in files], self.function.__qualname__)

    @cached_property
    def shipped_file(self) -> _KernelFile | None:
        """Cache file of the kernel in the installed wheel; None if shipped kernels cannot run here."""
        return self._file_in(self._shipped_folder) if shipped.fits_here() else None

    @property
    def _shipped_folder(self) -> Path:
        return shipped.FOLDER / self.function.__module__.rpartition(".")[0]

    def _file_in(self, folder: Path) -> _KernelFile | None:
        """Return the kernel's cache file in a folder, or None if the kernel has no source file."""
        source = Path(inspect.getfile(self.function))
        try:
            # The version is included because a kernel contains parts from other source files.
            stamp = hashlib.sha256(source.read_bytes() + __version__.encode()).digest()
        except OSError:
            return None
        name = f"{source.stem}.{self.function.__qualname__}".replace("<", "").replace(">", "")
        version = f"py{sys.version_info[0]}{sys.version_info[1]}{getattr(sys, 'abiflags', '')}"
        return _KernelFile(str(folder), f"{name}-{self.function.__code__.co_firstlineno}.{version}", stamp)

    @property
    def cache_path(self) -> str:
        """The first folder in which the kernel is searched for; empty if it has no source file."""
        return str(self.files[0]._cache_path) if self.files else ""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for a signature of argument types, or None if it has to be compiled."""
        if not self._enabled:
            return None
        require_room(_ROOM_TO_LOAD, "loading a compiled kernel")
        rtsys.initialize(target_context)
        found = self._load(sig, target_context)
        if found is None:
            self.turn.take()
            found = self._load(sig, target_context)  # another process may have compiled it in the meantime
        if found is None:
            require_room(_ROOM_TO_COMPILE, "compiling a kernel")
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        for file, key in self._places(sig, target_context.codegen().magic_tuple()):
            try:
                content = file.load(key)
            except _UNREADABLE:
                continue
            if content is not None:
                return loaded_kernel(target_context, content)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled kernel in the first writable cache folder, if there is one."""
        if not self._enabled:
            return
        if data.library.has_dynamic_globals or any(not each.can_cache for each in data.lifted):
            name = f"{self.function.__module__}.{self.function.__qualname__}"
            warnings.warn(
                f"{name} uses addresses or Python objects: it is compiled anew each time", stacklevel=2
            )
            return
        content, key = data._reduce(), self._key(sig, data.target_context.codegen().magic_tuple())
        for file in self.files:
            try:
                file.add(key, content)
            except OSError:
                continue
            return

    def enable(self) -> None:
        """Load kernels from the disk cache, and store compiled kernels there; this is the default."""
        self._enabled = True

    def disable(self) -> None:
        """Stop using the disk cache: compile kernels without loading or storing them."""
        self._enabled = False

    def flush(self) -> None:
        """Delete the compiled kernels from the disk cache."""
        for file in self.files:
            file.flush()

    def _places(self, sig: Any, target: tuple[Any, ...]) -> Iterator[tuple[_KernelFile, Any]]:
        """Yield the cache files that may contain the kernel, each with the kernel's key in that file."""
        key = self._key(sig, target)
        for file in self.files:
            yield file, key
        if self.shipped_file is not None:
            yield self.shipped_file, self._key(sig, shipped.target_of_wheels(target))

    def _key(self, sig: Any, target: tuple[Any, ...]) -> Any:
        """Return the cache key of a compiled kernel: signature, target, digests of bytecode and closure.

        Args:
            sig: numba's signature of the argument types.
            target: numba's description of the system, the processor and its features.
        """
        cells = tuple(cell.cell_contents for cell in self.function.__closure__ or ())
        parts = (self.function.__code__.co_code, dumps(cells) if cells else b"")
        digests = tuple(hashlib.sha256(part).hexdigest() for part in parts)
        return sig, target, digests


class _KernelFile(IndexDataCacheFile):
    """Index and machine code files of one kernel in one folder, in numba's format."""

    def add(self, key: Any, content: Any) -> None:
        """Write a compiled kernel to the folder.

        Args:
            key: cache key of the kernel.
            content: the compiled kernel, as numba stores it.

        Raises:
            OSError: the folder is not writable.
        """
        os.makedirs(self._cache_path, exist_ok=True)
        try:
            self.save(key, content)
        except _DAMAGED:
            self.flush()
            self.save(key, content)

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            return _Unpickler(file).load()


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == (_rebuild_env.__module__, _rebuild_env.__name__):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """Return a compiled function's environment (its constants), importing its module only if necessary."""
    if module in sys.modules or module not in _COMPILED_IN or lookup_environment(name) is not None:
        return _rebuild_env(module, constants, name)
    # Kernels use no Python objects: they read constants (for error messages) but no globals.
    environment = Environment({"__name__": module})
    environment.consts[:] = constants
    environment.env_name = name
    Environment._memo[name] = environment
    return environment
