"""A short run of the fuzzer; ``python -m benchmarks.fuzz --minutes 60`` is the long one."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from benchmarks.fuzz import run_case
from benchmarks.fuzzing import isolation
from benchmarks.fuzzing.file_targets import file_targets
from benchmarks.fuzzing.isolation import ACCEPTED, CRASH, GOOD, LARGE, REFUSED, TRACEBACK, UNCLEAR, run_apart
from benchmarks.fuzzing.questions import Questions
from benchmarks.fuzzing.requests import Requests
from benchmarks.fuzzing.targets import Target, clear, train_models

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
FILES = ("treebank", "alpino", "conll", "tsv", "matrix")


@pytest.fixture(scope="module")
def targets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Target]]:
    """Targets by name; a model is trained when it is first needed."""
    root = tmp_path_factory.mktemp("models")

    class Trained(dict[str, Target]):
        def __missing__(self, name: str) -> Target:
            if name == "request":
                train_models(root, ("pcfg",))
                self[name] = requests
            elif name == "question":
                train_models(root, Questions.models)
                self[name] = Questions(root)
            else:
                found = file_targets(root) if name in FILES else train_models(root, (name,))
                self[name] = found[name]
            clear(root.parent / "sound")
            self[name].warm_up(root.parent / "sound")
            return self[name]

    requests = Requests(root / "pcfg")
    yield Trained()
    requests.close()


@pytest.fixture(scope="module")
def first_seed() -> int:
    seed = int.from_bytes(os.urandom(3), "big")
    print(f"first seed {seed}")
    return seed


@pytest.mark.slow
@pytest.mark.parametrize("name", [*MODELS, *MOMENTS, *FILES, "request", "question"])
def test_mutations_are_accepted_or_refused_in_one_line(
    name: str, targets: dict[str, Target], first_seed: int, tmp_path: Path
) -> None:
    for seed in range(first_seed, first_seed + CASES):
        outcome = run_case(targets[name], seed, tmp_path / "case")
        again = f"python -m benchmarks.fuzz --targets '{name}' --case {seed}"
        assert outcome.kind in GOOD, f"{again}: {outcome.kind}\n{outcome.detail}"


def test_a_case_that_only_waited_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "MOST_WAITING", 1)
    begun = tmp_path / "begun"

    def wait_once() -> int:
        if not begun.exists():
            begun.touch()
            time.sleep(60)
        return 0

    assert run_apart(wait_once, tmp_path).kind == ACCEPTED


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
