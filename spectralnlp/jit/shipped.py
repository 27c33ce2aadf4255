"""Kernels that are shipped in wheels, compiled for any x86-64 processor with AVX2.

They lie in a folder of the package that a checkout does not have; ``spectralnlp warm-up --ship`` fills it
before a wheel is built. One of another version of numba, or of another source, is compiled anew.
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

# The third level of x86-64, which processors have had since 2013 (Intel) and 2015 (AMD).
_PROCESSOR = "x86-64-v3"
_FEATURES = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")

# Whether this process compiles for wheels: nobody's choice of a processor alone writes into the package.
_asked = Event()


def compile_for_wheels() -> None:
    """Compile from now on for other machines, into `FOLDER`; to be called before any kernel is."""
    vars(config).update(CPU_NAME=_PROCESSOR, CPU_FEATURES="")
    _asked.set()


def is_for_wheels() -> bool:
    """Return whether kernels are compiled to be shipped."""
    return _asked.is_set()


@cache
def fits_here() -> bool:
    """Whether shipped kernels run on this machine, and ``NUMBA_CPU_NAME`` does not ask for others."""
    is_x86 = platform.machine() in ("x86_64", "AMD64")
    if not (is_x86 and FOLDER.is_dir() and _chosen_processor() is None):
        return False
    features = binding.get_host_cpu_features()
    return all(features.get(name) for name in _FEATURES)


def _chosen_processor() -> str | None:
    name: str | None = vars(config)["CPU_NAME"]
    return name


def target_of_wheels(own: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return what numba calls the processor of shipped kernels.

    Args:
        own: what it calls this machine's: system, processor, features.
    """
    return own[0], _PROCESSOR, ""
