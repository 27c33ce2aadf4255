"""What is used of numba's private parts is there; without it, numba's own cache serves."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numba
import pytest

# Private names, and public ones whose behaviour numba does not promise, by module.
PRIVATE = {
    "numba.core.caching": ("IndexDataCacheFile", "_Cache"),
    "numba.core.environment": ("Environment._memo", "_rebuild_env", "lookup_environment"),
    "numba.core.runtime.nrt": ("rtsys.initialize",),
    "numba.core.serialize": ("dumps",),
    "numba.core.compiler": ("CompileResult._reduce",),
    "numba.core.compiler_lock": ("global_compiler_lock",),
    "numba.core.codegen": (
        *("CodeLibrary", "JITCodeLibrary._ensure_finalized", "JITCodeLibrary.add_linking_library"),
        *("JITCPUCodegen._library_class", "JITCPUCodegen.magic_tuple"),
    ),
    "numba.core.registry": ("CPUDispatcher.compile", "CPUDispatcher.__call__"),
    "numba.misc.appdirs": ("AppDirs",),
}


@pytest.mark.parametrize("module", PRIVATE)
def test_numba_has_what_the_cache_of_kernels_builds_on(module: str) -> None:
    for name in PRIVATE[module]:
        found = importlib.import_module(module)
        for part in name.split("."):
            assert hasattr(found, part), f"numba {numba.__version__} has no {module}.{name}: see jit/cache.py"
            found = getattr(found, part)


OTHER = """
import sys
import numba
import numpy as np
numba.__version__ = "0.99.0"
from a_kernel import total
assert total(np.arange(4.0)) == 6.0
assert sum(total.stats.cache_hits.values()) == int(sys.argv[1])
assert "spectralnlp.jit.cache" not in sys.modules
"""
KERNEL = """
from spectralnlp.jit import kernel

@kernel
def total(x):
    found = 0.0
    for each in x:
        found += each
    return found
"""


@pytest.mark.slow
def test_an_unknown_numba_compiles_and_caches_by_itself(tmp_path: Path) -> None:
    (tmp_path / "a_kernel.py").write_text(KERNEL)
    for hits in ("0", "1"):
        command = [sys.executable, "-c", OTHER, hits]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
