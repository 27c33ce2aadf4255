"""Fuzz the commands with mutated models, treebanks, texts, tables, matrices and requests.

Each case mutates a valid input, usually with matching digests, and runs commands on it in a child process,
with at most 10 s of CPU time and 1 GB; a case that does not end well there is run again in its own process.
The outcome should be *accepted* (status 0) or *refused* (one short line, status 2); failures are *unclear*
(another status or message), *traceback*, *crash* (a signal), *slow* and *large*.

    python -m benchmarks.fuzz --minutes 60
    python -m benchmarks.fuzz --targets parser tagger --minutes 2 --show 5
    python -m benchmarks.fuzz --targets parser --case 1234567    # repeat one case and show its output
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter

from benchmarks.fuzzing.command_targets import command_targets
from benchmarks.fuzzing.file_targets import file_targets
from benchmarks.fuzzing.interruptions import Interruptions
from benchmarks.fuzzing.isolation import CLASSES, GOOD, Outcome, run_apart, run_together
from benchmarks.fuzzing.places import Places
from benchmarks.fuzzing.questions import Questions
from benchmarks.fuzzing.requests import Requests
from benchmarks.fuzzing.targets import Target, clear, train_models

TOGETHER = 25  # cases in one process, as long as they end well
Found = dict[str, list[tuple[int, Outcome]]]


def run_case(target: Target, seed: int, folder: Path) -> Outcome:
    """Run one fuzzing case: write a mutated input to an emptied folder, and run commands on it.

    Args:
        target: class of inputs, with the commands to run.
        seed: seed of the mutation.
        folder: folder for the input; the mutated input remains there.
    """
    clear(folder)
    target.write(Random(f"{target.name} {seed}"), folder)
    outcome = run_apart(lambda: target.run(folder), folder)
    left = sorted(target.left_behind(folder)) if outcome.kind in GOOD else []
    return outcome._replace(kind="unclear", detail=f"left {', '.join(left)}") if left else outcome


def run_cases(target: Target, seeds: Sequence[int], folder: Path) -> list[Outcome]:
    """Run fuzzing cases, many in one process; a case that does not end well is run again in its own process.

    Args:
        target: class of inputs, with the commands to run.
        seeds: seed of each case.
        folder: folder for the inputs.
    """
    outcomes: list[Outcome] = []
    while len(outcomes) < len(seeds):
        clear(folder)
        rest = seeds[len(outcomes) :]
        cases = [partial(_run_written, target, seed, folder / "case") for seed in rest]
        outcomes += run_together(cases, folder)
        if len(outcomes) < len(seeds):
            outcomes.append(run_case(target, seeds[len(outcomes)], folder))
    return outcomes


def _run_written(target: Target, seed: int, folder: Path) -> int:
    """Write the input of a fuzzing case and run the commands on it.

    Returns the exit status, or -1 if files were left behind.
    """
    clear(folder)
    target.write(Random(f"{target.name} {seed}"), folder)
    status = target.run(folder)
    return -1 if list(target.left_behind(folder)) else status


def fuzz(
    targets: Mapping[str, Target], seconds: float, first_seed: int, folder: Path, cases: int | None = None
) -> Found:
    """Run fuzzing cases of all targets in turn, until time or number of cases is reached, or Ctrl-C.

    Failures are reported on stderr at once.
    """
    found: Found = defaultdict(list)
    end, seed = perf_counter() + seconds, first_seed
    with suppress(KeyboardInterrupt):  # the results until then are shown
        while perf_counter() < end and (cases is None or seed < first_seed + cases):
            seeds = range(
                seed, seed + TOGETHER if cases is None else min(seed + TOGETHER, first_seed + cases)
            )
            for name, target in targets.items():
                for each, outcome in zip(seeds, run_cases(target, seeds, folder), strict=True):
                    found[name].append((each, outcome))
                    if outcome.kind not in GOOD:
                        last = outcome.detail.strip().splitlines()[-1][:200] if outcome.detail else ""
                        print(f"{name} {each}: {outcome.kind}: {last}", file=sys.stderr, flush=True)
            seed += len(seeds)
    return found


def table(found: Found) -> str:
    """Return a table of outcomes by target, with the slowest and the largest case."""
    rows = []
    for name, cases in found.items():
        counts = Counter(outcome.kind for _, outcome in cases)
        slowest = max(outcome.seconds for _, outcome in cases)
        largest = max(outcome.megabytes for _, outcome in cases)
        kinds = [counts[kind] for kind in CLASSES]
        rows.append([name, len(cases), *kinds, f"{slowest:.1f}", f"{largest:.0f}"])
    return report.table(["target", "cases", *CLASSES, "most CPU time, s", "most memory, MB"], rows)


def all_targets(models: Path, names: tuple[str, ...] = ()) -> dict[str, Target]:
    """Return all fuzzing targets, or only the named ones, by name; missing models are trained first.

    Args:
        models: folder of the models.
        names: names of targets; empty for all.
    """
    others: dict[str, Target] = {**file_targets(models), **command_targets(models)}
    for target in (Requests(models / "pcfg"), Questions(models), Places(models), Interruptions()):
        others[target.name] = target
    wanted = {name for name in names if name not in others}
    for name, needed in NEEDED.items():
        wanted |= {*needed} if name in names else set()
    trained = train_models(models, tuple(wanted)) if wanted or not names else {}
    return {name: each for name, each in {**trained, **others}.items() if not names or name in names}


# The models with which a target runs its commands.
NEEDED = {
    "text": ("pcfg", "intents"),
    "request": ("pcfg",),
    "question": Questions.models,
    "constraints": ("pcfg",),
    "dictionaries": ("pcfg",),
    "partial": ("moments of lpcfg",),
    "device": Places.needed,
}


def main() -> None:
    """Fuzz the targets that the command line names, and print a table of the outcomes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=1.0, metavar="N", help="default 1")
    parser.add_argument("--cases", type=int, default=None, metavar="N", help="of each target, at most")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="of the first case")
    parser.add_argument("--targets", nargs="+", default=[], metavar="NAME", help="default all")
    parser.add_argument(
        "--models", type=Path, default=None, metavar="DIR", help="where trained models are kept"
    )
    parser.add_argument("--case", type=int, default=None, metavar="SEED", help="run one case of each target")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="details of the first N that failed")
    arguments = parser.parse_args()
    with TemporaryDirectory() as work:
        targets = all_targets(arguments.models or Path(work) / "models", tuple(arguments.targets))
        for target in targets.values():
            clear(Path(work) / "case")
            target.warm_up(Path(work) / "case")
        if arguments.case is not None:
            for name, target in targets.items():
                outcome = run_case(target, arguments.case, Path("fuzz-case"))
                print(f"{name}: {outcome.kind}, {outcome.seconds:.1f} s, {outcome.megabytes:.0f} MB")
                print(outcome.detail)
            return
        seed = int.from_bytes(os.urandom(4), "big") if arguments.seed is None else arguments.seed
        print(f"    python -m benchmarks.fuzz {' '.join(sys.argv[1:])}\n")
        print(f"{report.machine()} First seed {seed}.\n", flush=True)
        found = fuzz(targets, arguments.minutes * 60, seed, Path(work) / "case", arguments.cases)
        print(table(found))
        _show(found, arguments.show)
        sys.exit(any(outcome.kind not in GOOD for cases in found.values() for _, outcome in cases))


def _show(found: Found, most: int) -> None:
    bad = [(name, *case) for name, cases in found.items() for case in cases if case[1].kind not in GOOD]
    for name, seed, outcome in bad[:most]:
        print(f"\n{name} {seed}: {outcome.kind}\n{outcome.detail}")


if __name__ == "__main__":
    main()
