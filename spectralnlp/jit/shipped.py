"""Kernels that are shipped in wheels, compiled for any x86-64 processor with AVX2.

The folder of these kernels is part of wheels, but not of source checkouts; ``spectralnlp warm-up --ship``
fills it before a wheel is built. A shipped kernel that was compiled by another version of numba, or from
another version of its source file, is not used but compiled again.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from threading import Event
from typing import Any

from llvmlite import binding
from numba.core import config

FOLDER = Path(__file__).parent / "compiled"

# Microarchitecture level 3 of x86-64, available since 2013 (Intel) and 2015 (AMD).
_PROCESSOR = "x86-64-v3"
_FEATURES = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

# Whether this process compiles for wheels; choosing a processor by NUMBA_CPU_NAME does not imply this.
_asked = Event()


def compile_for_wheels() -> None:
    """Compile kernels for wheels from now on, into `FOLDER`; call this before any kernel is called."""
    vars(config).update(CPU_NAME=_PROCESSOR, CPU_FEATURES="")
    _asked.set()


def is_for_wheels() -> bool:
    """Return whether this process compiles kernels for wheels."""
    return _asked.is_set()


@cache
def fits_here() -> bool:
    """Return whether shipped kernels run on this machine and ``NUMBA_CPU_NAME`` is unset."""
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    if not (is_x86 and FOLDER.is_dir() and _chosen_processor() is None):
        return False
    features = binding.get_host_cpu_features()
    return all(features.get(name) for name in _FEATURES)


def _chosen_processor() -> str | None:
    name: str | None = vars(config)["CPU_NAME"]
    return name


def target_of_wheels(own: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the target (system, processor and its features) in the cache keys of shipped kernels.

    Args:
        own: the target of kernels that this machine compiles for itself, in the same form.
    """
    return own[0], _PROCESSOR, ""
