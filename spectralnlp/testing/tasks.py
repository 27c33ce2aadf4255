"""Checks for tasks, which read data and train, store and evaluate models of one kind."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimator import Estimator
from spectralnlp.storage import load_model
from spectralnlp.tasks.task import Task
from spectralnlp.testing.asserting import refusal, require


def check_task(
    task: Task | type[Task],
    estimator: Estimator[Any],
    inputs: Sequence[str | Path],
    *,
    gold: Sequence[str | Path] | None = None,
) -> None:
    """Check that a task reads, trains, saves, loads and evaluates.

    Args:
        task: the task, or its class.
        estimator: an unfitted estimator of the task, whose hyper-parameters suit the data.
        inputs: training files.
        gold: files to evaluate on; None if the task has no evaluation.

    Raises:
        AssertionError: a requirement is violated.

    Examples:
        >>> from spectralnlp import HMM
        >>> from spectralnlp.tasks.sequences import SequenceTask
        >>> from spectralnlp.testing import check_task
        >>> text = ["corpora/text/tokenized.txt"]
        >>> check_task(SequenceTask, HMM(n_states=1), text, gold=text)
    """
    task = task() if isinstance(task, type) else task
    require(estimator.task == task.name, f"the estimator's task is {estimator.task!r}, not {task.name!r}")
    require(set(task.documents) <= {"file", "line"}, "documents are files or lines")
    missing = Path("no-such-folder") / "no-such-file"
    refusal(lambda: list(task.read([missing])), "a missing input is an InputError", InputError)
    corpus = task.read(inputs)
    require(list(corpus), "read gives examples")
    require(len(list(corpus)) == len(list(corpus)), "what read gives can be read again")

    lines: list[str] = []
    model = task.train(estimator, corpus, report=lines.append, description="# A model under test\n")
    require(lines, "train reports its passes, a line each")
    require(all("\n" not in line for line in lines), "a line of the report is one line")
    require(model.task == task.name, f"the model's task is {model.task!r}, not {task.name!r}")
    require(isinstance(model.info, dict), "info is a dictionary")
    with TemporaryDirectory() as folder:
        model.save(Path(folder) / "one")
        stored = load_model(Path(folder) / "one")
        require(stored.kind == task.name, f"a model folder is marked {task.name!r}, not {stored.kind!r}")
        require("# A model under test" in stored.card, "the model card begins with the description")
        loaded = task.load(stored)
        loaded.save(Path(folder) / "two")
        arrays = [(Path(folder) / name / "arrays.safetensors").read_bytes() for name in ("one", "two")]
        require(arrays[0] == arrays[1], "a model that was saved and loaded has the same arrays")
    if gold is None:
        promise = "a task without a score refuses to evaluate"
        refusal(lambda: task.evaluate(model, task.read(inputs)), promise, ConfigError)
        return
    _check_scores(task, model, loaded, gold)


def _check_scores(task: Task, model: Any, loaded: Any, gold: Sequence[str | Path]) -> None:
    reports = [task.evaluate(each, task.read_gold(gold)) for each in (model, loaded)]
    require(all(report.to_table() for report in reports), "a report has a table for readers")
    ours, theirs = (report.to_flat_dict() for report in reports)
    flat = all(isinstance(value, int | float | str) for value in ours.values())
    require(flat, "a report is a flat dictionary of numbers and texts")
    for name, value in ours.items():
        if "second" in name or not isinstance(value, int | float):
            continue
        other = float(theirs[name])
        close = abs(other - value) <= 1e-3 * max(1.0, abs(value))  # models are stored in single precision
        require(close, f"a model that was saved and loaded scores the same: {name} {value} and {other}")
