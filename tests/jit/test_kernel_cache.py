"""Kernels on disk: loaded without the compiler, read from folders that cannot be written to."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from spectralnlp.jit.cache import cache_folders

MODULE = """
from typing import NamedTuple

import numpy as np

from spectralnlp.jit import kernel


class Pair(NamedTuple):
    a: np.ndarray
    b: np.ndarray


@kernel
def total(pair):
    return np.sum(pair.a) + pair.b.max() + np.sort(pair.a)[0]


@kernel
def product(a):
    return np.dot(a, a)


@kernel
def hashed(n):
    last = {0: 0}
    for i in range(n):
        last[i % 3] = i
    return last[0], hash((n, 1.5))


@kernel
def checked(a, n):
    if n > len(a):
        raise ValueError("too many")
    a[:n] = a[1 : n + 1].copy()
    return np.exp(a) + np.log1p(a) ** 0.5
"""
CALLING = """
from kernels_of_a_test import checked, hashed
from spectralnlp.jit import kernel

@kernel
def both(a, n):
    return checked(a, n).sum() + hashed(n)[0]
"""
REFUSED = """
def refused():
    try:
        checked(np.arange(2.0), 5)
    except ValueError as error:
        return error
"""
CALLS = {
    "total": "total(Pair(np.arange(4.0), np.ones(2)))",
    "product": "product(np.eye(3)).sum()",
    "hashed": "hashed(10)[0]",
    "checked": "checked(np.arange(4.0), 2).sum().round(6)",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "kernels_of_a_test.py").write_text(MODULE)
    return tmp_path


def run(package: Path, call: str, *, before: str = "", **environment: str) -> list[str]:
    """Call a kernel in a fresh process: was it compiled, what of numba and scipy was imported, the result."""
    script = f"""
import sys
{before}
import numpy as np
from kernels_of_a_test import *
from spectralnlp.jit import announced_compilation
said = []
from numba.core import event
class Compiled(event.Listener):
    def on_start(self, event): said.append(event)
    def on_end(self, event): pass
with event.install_listener("numba:compile", Compiled()):
    result = {call}
print(bool(said), "numba.np.arraymath" in sys.modules, "scipy.linalg" in sys.modules, result)
"""
    paths = os.pathsep.join([str(package), *sys.path])
    whole = {**os.environ, "PYTHONPATH": paths, **environment}
    whole.pop("NUMBA_CACHE_DIR", None) if "NUMBA_CACHE_DIR" not in environment else None
    done = subprocess.run(
        [sys.executable, "-c", script], env=whole, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_the_second_process_loads_what_the_first_compiled(package: Path, name: str) -> None:
    first, second = run(package, CALLS[name]), run(package, CALLS[name])
    assert (first[0], second[0]) == ("True", "False")
    assert first[3:] == second[3:]
    if name in ("total", "checked"):
        assert second[1:3] == ["False", "False"]  # neither the compiler's functions nor scipy


@pytest.mark.slow
def test_a_kernel_that_was_loaded_is_compiled_for_other_types(package: Path) -> None:
    run(package, CALLS["total"])
    call = "(total(Pair(np.arange(4.0), np.ones(2))), total(Pair(np.arange(4), np.ones(2, np.int64))))"
    assert run(package, call)[0] == "True"
    assert run(package, call)[0] == "False"


@pytest.mark.slow
def test_a_kernel_is_compiled_that_calls_loaded_ones(package: Path) -> None:
    (package / "calling_kernels.py").write_text(CALLING)
    apart = "round(float(checked(np.arange(4.0), 2).sum() + hashed(2)[0]), 6)"
    together = f"[{apart}, round(float(__import__('calling_kernels').both(np.arange(4.0), 2)), 6)]"
    run(package, apart)
    for compiled in ("True", "False"):
        said, _, _, one, other = run(package, together)
        assert said == compiled
        assert one.strip("[,") == other.strip("]")


@pytest.mark.slow
def test_errors_of_kernels_that_were_loaded(package: Path) -> None:
    module = package / "kernels_of_a_test.py"
    module.write_text(f"{MODULE}\n{REFUSED}")
    assert run(package, "refused()")[3:] == run(package, "refused()")[3:] == ["too", "many"]


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to_is_read(package: Path) -> None:
    user = package / "home"
    home = {"XDG_CACHE_HOME": str(user), "HOME": str(user), "PYTHONDONTWRITEBYTECODE": "1"}
    run(package, CALLS["total"], **home)
    assert not user.exists()
    (index,) = (package / "__pycache__").glob("*.nbi")
    run(package, CALLS["product"], **home)
    (other,) = set(index.parent.glob("*.nbi")) - {index}
    other.unlink()
    other.mkdir()  # a name that is taken by a folder cannot be written to, whoever asks
    assert run(package, CALLS["total"], **home)[0] == "False"
    assert run(package, CALLS["product"], **home)[0] == "True"
    assert list(user.rglob("*product*.nbc"))
    assert run(package, CALLS["product"], **home)[0] == "False"


@pytest.mark.slow
def test_nowhere_to_write(package: Path) -> None:
    (package / "__pycache__").write_text("in the way")
    (package / "home").write_text("in the way")
    home = {"XDG_CACHE_HOME": str(package / "home"), "HOME": str(package / "home")}
    assert run(package, CALLS["total"], **home)[0] == run(package, CALLS["total"], **home)[0] == "True"


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"\x80\x04cno_such\nmodule\n."])
def test_damaged_files_are_written_again(package: Path, suffix: str, content: bytes) -> None:
    cache = package / "cache"
    run(package, CALLS["product"], NUMBA_CACHE_DIR=str(cache))
    for path in cache.rglob(f"*.{suffix}"):
        path.write_bytes(content)
    assert run(package, CALLS["product"], NUMBA_CACHE_DIR=str(cache))[0] == "True"
    assert run(package, CALLS["product"], NUMBA_CACHE_DIR=str(cache))[0] == "False"


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="they are for x86-64")
def test_kernels_of_a_wheel_are_loaded_where_they_run(package: Path) -> None:
    wheel = f"""
from pathlib import Path
from spectralnlp.jit import shipped
shipped.FOLDER = Path({str(package)!r}) / "wheel"
"""
    compiled = run(package, CALLS["total"], before=f"{wheel}shipped.compile_for_wheels()")
    assert compiled[0] == "True"
    assert not list(package.glob("__pycache__/*.nbi"))
    assert run(package, CALLS["total"], before=wheel) == ["False", "False", "False", *compiled[3:]]
    old = f"{wheel}shipped._FEATURES = ('avx1024',)"
    assert run(package, CALLS["total"], before=old)[0] == "True"
    assert run(package, CALLS["total"], before=old)[0] == "False"  # this machine's own, beside the package


@pytest.mark.slow
def test_a_changed_source_is_compiled_again(package: Path) -> None:
    assert run(package, CALLS["product"])[3] == "3.0"
    (package / "kernels_of_a_test.py").write_text(MODULE.replace("np.dot(a, a)", "np.dot(a, a) + 1"))
    assert run(package, CALLS["product"])[::3] == ["True", "12.0"]


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path / "cache"))
    (folder,) = cache_folders(tmp_path)
    assert folder.parent == tmp_path / "cache"
    monkeypatch.setattr("numba.core.config.CACHE_DIR", "")
    beside, user = cache_folders(tmp_path)
    assert beside == tmp_path / "__pycache__"
    assert user.name == folder.name
