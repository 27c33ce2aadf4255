"""Compare the speed of parsing, tagging, training and start-up between two versions of the code.

Each version has its own Python installation. Because machines are noisy, the two take turns at each
measurement, and the median of the ratios is printed.

    git worktree add ../before 7482927
    python -m venv ../venv-before && ../venv-before/bin/pip install -e '../before[dev]'
    python -m benchmarks.before_after --before ../venv-before/bin/python
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

from benchmarks import timed_steps


def cpu_seconds(python: str, step: str, corpora: Path) -> float:
    """Return the CPU seconds of a step, run in a new process by one of the two Python installations.

    Args:
        python: path of the Python program.
        step: name of the step, a function of `timed_steps`.
        corpora: folder of the corpora.
    """
    done = subprocess.run(
        [python, timed_steps.__file__, step, str(corpora.resolve())],
        capture_output=True,
        text=True,
        cwd=Path(python).parent,  # a folder without the package of either version
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    )
    if done.returncode:
        sys.exit(f"{python}: {done.stderr.strip()}")
    return float(done.stdout.split()[-1])


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", required=True, metavar="PYTHON", help="of the other installation")
    parser.add_argument("--corpora", type=Path, default=Path("../shared/corpora"), metavar="DIR")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="of each; one more comes first")
    parser.add_argument("--steps", nargs="+", choices=timed_steps.STEPS, default=list(timed_steps.STEPS))
    arguments = parser.parse_args()
    rows: list[list[object]] = []
    for step in arguments.steps:
        pythons = (str(Path(arguments.before).absolute()), sys.executable)
        pairs = [
            [cpu_seconds(python, step, arguments.corpora) for python in pythons]
            for _ in range(arguments.runs + 1)
        ][1:]
        before, after = (median(column) for column in zip(*pairs, strict=True))
        ratio = median(new / old for old, new in pairs)
        rows.append([timed_steps.STEPS[step][0], f"{before:.2f}", f"{after:.2f}", f"{ratio:.3f}"])
    print(f"{report.machine()} Median of {arguments.runs} runs each, taking turns; seconds of CPU time.\n")
    print(report.table(("", "before", "after", "after / before"), rows))


if __name__ == "__main__":
    main()
