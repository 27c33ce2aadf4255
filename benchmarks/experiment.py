"""Shared helpers of the experiments in ``benchmarks/experiments/tutorial.md``: arguments, headings, means."""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, stdev

from benchmarks.parsing import THREADS, TREEBANKS, Result, Setting, measure


def argument_parser(description: str | None, *, treebank: str = "wsj") -> argparse.ArgumentParser:
    """Return a parser with the arguments of every experiment: the corpora's folder and the treebank."""
    parser = report.argument_parser(description, corpora=True)
    parser.add_argument("--treebank", default=treebank, choices=TREEBANKS, help=f"default {treebank}")
    return parser


def add_seeds(parser: argparse.ArgumentParser) -> None:
    """Add the argument ``--seeds``, the number of training runs, to a parser of arguments."""
    parser.add_argument("--seeds", type=int, default=1, metavar="N", help="runs of each; mean ± deviation")


def folder_of(arguments: argparse.Namespace) -> Path:
    """Return the folder of the treebank that the arguments name, with its ``train`` and ``dev``."""
    folder: Path = arguments.corpora / "treebanks" / arguments.treebank
    if not folder.is_dir():
        sys.exit(f"{folder}: no such folder; say with --corpora where the corpora are")
    return folder


def print_heading(name: str) -> None:
    """Print the command of an experiment, and the machine that it runs on, as a heading."""
    command = " ".join(["python -m", f"benchmarks.{name}", *sys.argv[1:]])
    print(f"    {command}\n\n{report.machine()} {THREADS}\n", flush=True)


def runs_of(setting: Setting, seeds: int, train: Path, dev: Path) -> list[Result]:
    """Train and score a setting with each seed, each in its own process."""
    results = []
    for seed in range(seeds):
        results.append(report.apart(measure, setting, seed, train, dev, ()))
        note(f"{setting.text} seed {seed}: F1 {results[-1].f1:.2f}")
    return results


def note(line: str) -> None:
    """Report progress on stderr, so that it is not part of the tables on standard output."""
    print(line, file=sys.stderr, flush=True)


def mean_spread(values: Sequence[float], decimals: int = 2) -> str:
    """Return the mean and, for two values or more, their standard deviation: ``86.12 ± 0.31``."""
    spread = f" ± {stdev(values):.{decimals}f}" if len(values) > 1 else ""
    return f"{mean(values):.{decimals}f}{spread}"


def numbers(text: str) -> list[int]:
    """Parse a comma-separated list of integers."""
    return [int(number) for number in text.split(",")]
