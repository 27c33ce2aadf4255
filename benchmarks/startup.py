"""Measure wall times of the command line: ``--help``, a parse of two sentences, and the first parse.

The first parse compiles the kernels into an empty ``NUMBA_CACHE_DIR``; later ones load them from the cache.
To simulate a wheel with kernels, the packages are copied and ``warm-up --ship`` is run in the copy.

    python -m benchmarks.startup
    python -m benchmarks.startup --model models/wsj
    python -m benchmarks.startup --checks --repeat 20    # cost of checking the model folder

The checks of arrays are timed in one process that loads the model in turn with and without them; those of
JSON values also convert the values, and are timed directly. The total is the CPU time of the parse.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import spectralnlp
from spectralnlp.storage import arrays, values

TEXT = "The keeper climbs the stairs every evening. Visitors come by boat when the tide is high."
COMMAND = str(Path(sys.executable).parent / "spectralnlp")
ROOT = Path(__file__).parent.parent
PACKAGES = (ROOT / "spectralnlp", *(ROOT / "plugins").glob("*"), *(ROOT / "grammars").glob("*"))


def wall_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command and return the wall seconds that it takes.

    Args:
        command: the command with its arguments.
        environment: environment variables.
    """
    started = perf_counter()
    done = subprocess.run(
        command, input=TEXT, text=True, capture_output=True, env={**os.environ, **environment}
    )
    seconds = perf_counter() - started
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return seconds


def first_parse_of_a_wheel(parse: Sequence[str], model: str) -> float:
    """Return wall seconds of the first parse with an installation that ships kernels."""
    with TemporaryDirectory() as folder:
        site, cache = Path(folder, "site"), Path(folder, "cache")
        for package in PACKAGES:
            if package.is_dir():
                shutil.copytree(package, site / package.name, ignore=shutil.ignore_patterns("__pycache__"))
        installed = {"PYTHONPATH": str(site), "NUMBA_CACHE_DIR": str(cache)}
        wall_seconds([COMMAND, "warm-up", model, "--ship"], installed)
        wall_seconds([sys.executable, "-m", "compileall", "-q", str(site)], {})  # pip compiles modules, too
        return wall_seconds(parse, installed)


def cpu_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """Run a command and return the CPU seconds that it takes.

    Args:
        command: the command with its arguments.
        environment: environment variables.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall_seconds(command, environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def unchecked_arrays() -> Iterator[None]:
    """Disable the checks of array values when models are loaded; shapes are still checked."""

    def settle(self: Any, name: str, array: arrays.Array, into: arrays.Size) -> None:
        self._settled(name, into, int(array[-1]))

    with (
        patch.object(arrays, "_is_finite", lambda *_: True),
        patch.object(arrays, "_rises", lambda *_: True),
        patch.object(arrays, "_rises_between", lambda *_: True),
        patch.object(arrays.StoredArrays, "_check_range", lambda *_: None),
        patch.object(arrays.StoredArrays, "_check_offsets", settle),
    ):
        yield


@contextmanager
def timed_values(seconds: list[float]) -> Iterator[None]:
    """Append to a list the CPU seconds of checking and converting each JSON value."""
    take: Callable[..., Any] = values.StoredValues.take

    def timed(self: values.StoredValues, *given: Any, **named: Any) -> Any:
        started = process_time()
        try:
            return take(self, *given, **named)
        finally:
            seconds.append(process_time() - started)

    with patch.object(values.StoredValues, "take", timed):
        yield


def show_checks(model: str, repeat: int) -> None:
    """Print the CPU time of a parse, of loading its model, and of the checks."""
    parse = [COMMAND, "parse", "--model", model]
    with TemporaryDirectory() as cache:
        warm = {"NUMBA_CACHE_DIR": cache}
        wall_seconds(parse, warm)
        whole = median(cpu_seconds(parse, warm) for _ in range(repeat))
    spectralnlp.load(model)
    loads: dict[str, list[float]] = {"checked": [], "unchecked": [], "values": []}
    for _ in range(repeat):
        started = process_time()
        spectralnlp.load(model)
        loads["checked"].append(process_time() - started)
        with unchecked_arrays():
            started = process_time()
            spectralnlp.load(model)
            loads["unchecked"].append(process_time() - started)
        each: list[float] = []
        with timed_values(each):
            spectralnlp.load(model)
        loads["values"].append(sum(each))
    checked, unchecked, of_values = (median(each) for each in loads.values())
    rows = [
        ("parse of two sentences", whole),
        ("loading the model", checked),
        ("checks of arrays", checked - unchecked),
        ("checks of JSON values", of_values),
    ]
    print(f"{report.machine()} CPU time, median of {repeat} runs, model `{model}`.\n")
    cells = [[name, f"{1000 * seconds:.1f}", f"{seconds / whole:.1%}"] for name, seconds in rows]
    print(report.table(("", "ms", "share"), cells))


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("--model", default="en", metavar="NAME|PATH", help="what parses; default en")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs; the median is printed")
    parser.add_argument("--checks", action="store_true", help="time the checks of the model folder")
    arguments = parser.parse_args()
    if arguments.checks:
        show_checks(arguments.model, arguments.repeat)
        return
    parse = [COMMAND, "parse", "--model", arguments.model]
    rows: list[list[object]] = []
    with TemporaryDirectory() as cache:
        warm = {"NUMBA_CACHE_DIR": cache}
        first = wall_seconds(parse, warm)
        timed = [
            ("`python -c pass`, for comparison", [sys.executable, "-c", "pass"], None),
            ("`spectralnlp --help`", [COMMAND, "--help"], 0.6),
            ("parse of two sentences", parse, 1.0),
        ]
        if report.version_of("nltk"):
            timed.insert(1, ("`import nltk`, for comparison", [sys.executable, "-c", "import nltk"], None))
        for name, command, most in timed:
            seconds = median(wall_seconds(command, warm) for _ in range(arguments.repeat))
            rows.append([name, *_cells(seconds, most)])
    rows.append(["the first parse ever, once", *_cells(first, 15.0)])
    of_wheel = first_parse_of_a_wheel(parse, arguments.model)
    rows.append(["the same, of a wheel with kernels", *_cells(of_wheel, 2.0)])
    print(f"{report.machine()} Median of {arguments.repeat} runs, model `{arguments.model}`.\n")
    print(report.table(("", "s", "at most", "share"), rows))


def _cells(seconds: float, most: float | None) -> list[object]:
    return [f"{seconds:.2f}", most, None if most is None else f"{seconds / most:.0%}"]


if __name__ == "__main__":
    main()
