"""A short run of the fuzzer; ``python -m benchmarks.fuzz --minutes 60`` is the long one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fuzz import all_targets, run_cases
from benchmarks.fuzzing import interruptions, isolation
from benchmarks.fuzzing.interruptions import Interruptions
from benchmarks.fuzzing.isolation import (
    ACCEPTED,
    CRASH,
    GOOD,
    LARGE,
    REFUSED,
    TRACEBACK,
    UNCLEAR,
    run_apart,
    run_together,
)
from benchmarks.fuzzing.requests import Requests
from benchmarks.fuzzing.targets import Target, clear

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that fork")

CASES = 12  # of each target
MODELS = ("operators", "pcfg", "tagger", "rhmm", "topics", "intents")
MOMENTS = (
    "moments of pcfg",
    "moments of lpcfg",
    "moments of rhmm",
    "moments of hmm",
    "moments of eigenwords",
)
FILES = ("treebank", "alpino", "negra", "conll", "csv", "jsonl", "parquet", "matrix")
COMMANDS = (
    "pattern",
    "rewrite",
    "settings",
    "constraints",
    "dictionaries",
    "partial",
    "device",
    "question",
    "request",
)


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    """Targets by name; a model is trained when it is first needed."""
    root = tmp_path_factory.mktemp("models")

    class Ready(dict[str, Target]):
        def __missing__(self, name: str) -> Target:
            self[name] = all_targets(root, (name,))[name]
            clear(root.parent / "sound")
            self[name].warm_up(root.parent / "sound")
            return self[name]

    ready = Ready()
    yield ready
    for each in ready.values():
        if isinstance(each, Requests):
            each.close()


@pytest.fixture(scope="module")
def first_seed() -> int:
    seed = int.from_bytes(os.urandom(3), "big")
    print(f"first seed {seed}")
    return seed


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MODELS, *MOMENTS, *FILES, *COMMANDS])
def test_mutations_are_accepted_or_refused_in_one_line(
    name: str, targets: dict[str, Target], first_seed: int, tmp_path: Path
) -> None:
    seeds = range(first_seed, first_seed + CASES)
    for seed, outcome in zip(seeds, run_cases(targets[name], seeds, tmp_path / "case"), strict=True):
        again = f"python -m benchmarks.fuzz --targets '{name}' --case {seed}"
        assert outcome.kind in GOOD, f"{again}: {outcome.kind}\n{outcome.detail}"


def test_a_case_that_only_waited_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MAX_WAITING", 1)
    begun = tmp_path / "begun"

    def wait_once() -> int:
        if not begun.exists():
            begun.touch()
            time.sleep(60)
        return 0

    assert run_apart(wait_once, tmp_path).kind == ACCEPTED


def test_cases_that_share_a_process_are_told_apart(tmp_path: Path) -> None:
    cases = [
        lambda: 0,
        lambda: complain("spectralnlp: no\n", 2),
        lambda: 0,
        lambda: complain("no\n", 2),
        lambda: 0,
    ]
    assert [outcome.kind for outcome in run_together(cases, tmp_path)] == [ACCEPTED, REFUSED, ACCEPTED]


def test_orphans_and_rests_of_an_interrupted_command_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = """
import pathlib, signal, subprocess, sys, time
worker = subprocess.Popen(["sleep", "60"])
pathlib.Path(sys.argv[1], "rest.partial").touch()
print("here", flush=True)
time.sleep(60)
"""
    monkeypatch.setattr(interruptions, "_MAIN", bad)
    monkeypatch.setattr(interruptions, "_ORPHANS", 0.2)
    target = Interruptions()
    asked = {"arguments": ["HERE"], "number": 15, "pauses": [0.1], "group": False}
    (tmp_path / "asked").write_text(json.dumps(asked))
    assert target.run(tmp_path) == 1
    said = capsys.readouterr().err
    assert "status -15; left rest.partial; 1 workers live" in said


def complain(line: str, status: int) -> int:
    os.write(2, line.encode())
    return status


def crash() -> int:
    os.kill(os.getpid(), 11)
    return 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "kind"),
    [
        (lambda: 0, ACCEPTED),
        (lambda: complain("spectralnlp: no\n", 2), REFUSED),
        (lambda: complain("spectralnlp: no\n", 1), UNCLEAR),
        (lambda: complain("no\n", 2), UNCLEAR),
        (lambda: complain("spectralnlp: " + "x" * 5000, 2), UNCLEAR),
        (lambda: 1 // 0, TRACEBACK),
        (crash, CRASH),
        (lambda: len(np.ones(1 << 37)), LARGE),
        (lambda: 0 * len(np.ones(150 << 20)), LARGE),
    ],
)
def test_outcomes_are_told_apart(case: object, kind: str, tmp_path: Path) -> None:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        outcome = run_apart(case, tmp_path)  # type: ignore[arg-type]
    assert outcome.kind == kind, outcome
