"""Wall time of the command line: ``--help``, a parse of two sentences, and the very first parse.

The first parse compiles the kernels into an empty ``NUMBA_CACHE_DIR``; the others load them from the cache.

    python -m benchmarks.startup
    python -m benchmarks.startup --model models/wsj
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

TEXT = "The keeper climbs the stairs every evening. Visitors come by boat when the tide is high."
COMMAND = str(Path(sys.executable).parent / "spectralnlp")


def wall_seconds(command: Sequence[str], environment: Mapping[str, str]) -> float:
    """How long a command takes, from its start to its end."""
    started = perf_counter()
    done = subprocess.run(
        command, input=TEXT, text=True, capture_output=True, env={**os.environ, **environment}
    )
    seconds = perf_counter() - started
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return seconds


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="en", metavar="NAME|PATH", help="what parses; default en")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="runs; the median is printed")
    arguments = parser.parse_args()
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
    rows.append(["the first parse ever, once", *_cells(first, 8.0)])
    print(f"{report.machine()} Median of {arguments.repeat} runs, model `{arguments.model}`.\n")
    print(report.table(("", "s", "at most", "share"), rows))


def _cells(seconds: float, most: float | None) -> list[object]:
    return [f"{seconds:.2f}", most, None if most is None else f"{seconds / most:.0%}"]


if __name__ == "__main__":
    main()
