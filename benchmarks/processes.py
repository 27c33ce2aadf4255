"""Compare a command with ``--jobs N`` with N simultaneous commands, each on a part of the text.

    python -m benchmarks.processes text.txt -- tag
    python -m benchmarks.processes text.txt --repeat 5 -- parse --tokenized

CPU time is summed over all processes; the share is the time of N independent commands divided by that of one
command with N processes.
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

COMMAND = str(Path(sys.executable).parent / "spectralnlp")


def timed(commands: Sequence[Sequence[str]], outputs: Sequence[Path]) -> tuple[float, float]:
    """Return wall and CPU seconds of commands that run at the same time."""
    started, before = perf_counter(), _cpu()
    running = []
    for command, output in zip(commands, outputs, strict=True):
        with output.open("wb") as file:
            running.append(subprocess.Popen(command, stdout=file))
    failures = [process.wait() for process in running]
    if any(failures):
        sys.exit(f"failed: {' '.join(commands[0])}")
    return perf_counter() - started, _cpu() - before


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print a row for each run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", type=Path, help="one sentence or paragraph a line")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes; default 2")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs; default 3")
    parser.add_argument("command", nargs="+", help="after --: the command with its options, without text")
    arguments = parser.parse_args()
    command = [COMMAND, *arguments.command]
    lines = arguments.text.read_bytes().splitlines(keepends=True)
    rows: list[list[object]] = []
    with TemporaryDirectory() as temporary:
        folder, n = Path(temporary), arguments.jobs
        parts, outputs = ([folder / f"{kind}{i}" for i in range(n)] for kind in ("part", "out"))
        for i, part in enumerate(parts):
            part.write_bytes(b"".join(lines[len(lines) * i // n : len(lines) * (i + 1) // n]))
        timed([[*command, str(parts[0])]], outputs[:1])  # compiles kernels and caches files before timing
        for _ in range(arguments.repeat):
            apart = timed([[*command, str(part)] for part in parts], outputs)
            together = timed([[*command, str(arguments.text), "--jobs", str(n)]], [folder / "all"])
            same = (folder / "all").read_bytes() == b"".join(output.read_bytes() for output in outputs)
            shares = [f"{a / b:.0%}" for a, b in zip(apart, together, strict=True)]
            rows.append([f"{apart[0]:.1f}", f"{together[0]:.1f}", *shares, "yes" if same else "no"])
    print(f"{report.machine()} `{' '.join(arguments.command)}`, {len(lines):,} lines, {n} processes.\n")
    print(
        report.table(
            (f"{n} commands, s", f"--jobs {n}, s", "share of time", "of CPU time", "same bytes"), rows
        )
    )


if __name__ == "__main__":
    main()
