"""Helpers of all benchmarks: description of the machine, Markdown tables, new processes and arguments."""

from __future__ import annotations

import argparse
import os
import platform
import re
import resource
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

# Benchmarks use one core. Numerical libraries, also those of child processes, read these variables when they
# are imported, so a benchmark imports this module first.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# Functions of a benchmark's parts by their names on the command line.
Parts = Mapping[str, Callable[[argparse.Namespace], None]]

# Folder of the corpora, which are not in the repository.
CORPORA = Path(os.environ.get("SPECTRALNLP_SHARED", Path(__file__).parents[2] / "shared"), "corpora")

PACKAGES = ("spectralnlp", "numpy", "scipy", "numba", "nltk")


def machine() -> str:
    """Return a line that describes the machine, its load (from other processes) and the software versions."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = ", ".join(f"{name} {found}" for name in PACKAGES if (found := version_of(name)))
    busy = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{_cpu()}, {cores} cores{busy}; {platform.system()}, {python}, {versions}."


def apart(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new process, with its own memory and compiled kernels, and return its result."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


class Timed(NamedTuple):
    """Seconds that a call took, and what it returned."""

    seconds: float
    result: Any


def timed(work: Callable[[], Any], repeats: int = 1, clock: Callable[[], float] = process_time) -> Timed:
    """Return the fastest of several calls of a function; seconds are of CPU time, or of another clock."""
    runs = []
    for _ in range(repeats):
        started = clock()
        result = work()
        runs.append(Timed(clock() - started, result))
    return min(runs, key=lambda run: run.seconds)


def version_of(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def peak_megabytes() -> float:
    """Return the peak memory of this process so far, in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():  # of this program alone; getrusage on Linux includes the parent's memory
        (kilobytes,) = re.findall(r"VmHWM:\s*(\d+) kB", status.read_text())
        return int(kilobytes) / 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table; all columns but the first are right-aligned, None becomes a dash."""
    lines = [_line(header), _line(["---", *["---:"] * (len(header) - 1)])]
    return "\n".join([*lines, *(_line(["–" if cell is None else str(cell) for cell in row]) for row in rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def argument_parser(description: str | None, *, corpora: bool = False) -> argparse.ArgumentParser:
    """Return a parser of a benchmark's arguments, with the folder of the corpora if it is asked for."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    if corpora:
        parser.add_argument("--corpora", type=Path, default=CORPORA, metavar="DIR")
    return parser


def run_parts(
    description: str | None,
    parts: Parts,
    add_arguments: Callable[[argparse.ArgumentParser], object],
    *,
    corpora: bool = False,
) -> None:
    """Run the parts of a benchmark that the command line names, all of them if it names none.

    Args:
        description: docstring of the benchmark's module.
        parts: functions of the parts by name.
        add_arguments: function that adds the benchmark's own arguments.
        corpora: whether there is an argument for the folder of the corpora.
    """
    parser = argument_parser(description, corpora=corpora)

    def part(name: str) -> str:
        if name not in parts:
            raise argparse.ArgumentTypeError(f"no part {name!r}: choose from {', '.join(parts)}")
        return name

    parser.add_argument("parts", nargs="*", type=part, metavar="PART", help=f"of {', '.join(parts)}")
    add_arguments(parser)
    arguments = parser.parse_args()
    chosen = arguments.parts or list(parts)
    if chosen != ["figures"]:
        print(f"{machine()} One thread.\n", flush=True)
    for name in chosen:
        parts[name](arguments)
        sys.stdout.flush()
