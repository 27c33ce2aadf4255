"""Options that several commands share, and the way in which these commands read, compute and score.

A command with a parameter ``work`` chooses some options of `Work` by the decorator `command_options`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, fields
from functools import cache, cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, get_type_hints

import typer

from spectralnlp.cli.console import Shown, note, progress
from spectralnlp.cli.kernels import announced_kernels
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.cli.texts import Meter
    from spectralnlp.errors import InputError
    from spectralnlp.tasks.task import Task

ModelName: TypeAlias = Annotated[str, typer.Argument(metavar="MODEL", help="Name or folder of a model.")]


def _column(value: str) -> str | int:
    """Parse the value of a column option: a column's number (from 1) if it has only digits, else its name."""
    if not value.isdecimal():
        return value
    if len(value) > 9 or int(value) < 1:
        raise typer.BadParameter("columns are numbered from 1 to 999999999")
    return int(value)


TextColumn: TypeAlias = Annotated[
    Any,
    typer.Option(
        "--text-column",
        parser=_column,
        metavar="NAME|N",
        help="Of tables, the column with the text; a number where the first line has no names.",
    ),
]
LabelColumn: TypeAlias = Annotated[
    Any,
    typer.Option(
        "--label-column", parser=_column, metavar="NAME|N", help="Of tables, the column with the label."
    ),
]
TextModel: TypeAlias = Annotated[
    str | None,
    typer.Option("--model", "-m", metavar="NAME|PATH", help="The files are text: parse it with this."),
]
TokenizedText: TypeAlias = Annotated[
    bool, typer.Option("--tokenized", help="With --model: a sentence a line, blanks between tokens.")
]
TreeReader: TypeAlias = Annotated[
    str, typer.Option("--reader", metavar="NAME", help="Reader of the treebank; by default recognised.")
]
FileEncoding: TypeAlias = Annotated[
    str | None,
    typer.Option("--encoding", metavar="NAME", help="Of trees, tagged and labelled text; default theirs."),
]
Renamings: TypeAlias = Annotated[
    Path | None,
    typer.Option("--map", metavar="FILE", help="Table of labels and tags of trees to rename; see docs."),
]
TreebankWeights: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--weight", metavar="INPUT=N", help="How often trees of an INPUT count; repeatable, by default once."
    ),
]
SkipBad: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out, count and name what cannot be read.")
]
EvalbFile: TypeAlias = Annotated[
    Path | None, typer.Option("--prm", metavar="FILE", help="EVALB parameters; default COLLINS.prm's.")
]
OutputFile: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")
]
NewFolder: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", metavar="DIR", help="The model folder to make.")
]
Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace the model that is in DIR already.")
]
EngineName: TypeAlias = Annotated[
    str | None, typer.Option("--engine", metavar="NAME", help="Where the work is done: processes, dask …")
]
Jobs: TypeAlias = Annotated[int | None, typer.Option("--jobs", min=1, metavar="N", help="Worker processes.")]
Scheduler: TypeAlias = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster, tcp://host:port.")
]
SkipBadPartitions: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad-partitions", help="Leave out and name files that fail, and go on.")
]
MemorySize: TypeAlias = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Of each process, e.g. 1.5GB; the rest goes to disk."),
]
CheckpointFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--checkpoint", metavar="DIR", help="Keep what is finished here; a later run goes on."),
]


_WEIGHT = re.compile(r"\s*\d{1,9}\s*")


def weights_of(options: list[str] | None) -> dict[str, int] | None:
    """Return the values of ``--weight`` as a mapping of inputs to weights; None if there are none.

    Raises:
        ConfigError: a value is not INPUT=N with a whole number N.
    """
    found: dict[str, int] = {}
    for each in options or []:
        name, equals, weight = each.rpartition("=")
        if not equals or not name or not _WEIGHT.fullmatch(weight):
            what = f"--weight takes INPUT=N with a whole number N from 1, not {each!r}"
            raise ConfigError(what, hint="trees count once, twice …, so that forgetting them is exact")
        found[name] = int(weight)
    return found or None


def accepted(task: Task, method: str, options: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    """Return the options that were given, as keyword arguments of a method of a task.

    Args:
        task: task of the model or the estimator.
        method: name of the method: ``read``, ``read_gold`` or ``evaluate``.
        options: maps each argument of the method to an option (name and value). Options with the value None
            or False were not given.

    Raises:
        ConfigError: the method does not take an option that was given.
    """
    given = {
        argument: each for argument, each in options.items() if each[1] is not None and each[1] is not False
    }
    known = inspect.signature(getattr(task, method)).parameters
    for argument, (flag, _) in given.items():
        if argument not in known:
            raise ConfigError(f"{flag} means nothing to {task.name}", hint="leave it out")
    return {argument: value for argument, (_, value) in given.items()}


class Skipped:
    """Callback that reports and counts inputs that cannot be read, each of them once.

    A command that reads its inputs several times, or in worker processes, calls `find` first, which reads all
    inputs once and reports the bad ones; worker processes skip them without a report.

    Args:
        report: called with a line for each bad input, and with a line for the number of bad inputs.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        self.report = report
        self.seen: dict[str, None] = {}

    def __call__(self, error: InputError) -> None:
        """Record a bad input, and report it if it is new."""
        if error.message not in self.seen:
            self.seen[error.message] = None
            self.report(f"skipped {error.message}")

    def find(self, *corpora: Iterable[object]) -> None:
        """Read all inputs once, and report each bad input and the number of bad inputs."""
        for corpus in corpora:
            for _ in corpus:
                pass
        self.say_how_many()

    def say_how_many(self) -> None:
        """Report the number of inputs that were skipped."""
        self.report(f"skipped {len(self.seen)} in all")

    def __reduce__(self) -> tuple[object, ...]:
        return Skipped, (_ignore,)


def _ignore(line: str) -> None:
    pass


@dataclass(frozen=True)
class Work:
    """How a command reads its files and computes; the fields are values of options.

    Attributes:
        text_column, label_column, encoding, weight, renamings: how files are read, besides their reader.
        skip_bad: whether to skip and report inputs that cannot be read.
        engine, jobs, scheduler: execution engine, its number of workers and the address of a Dask scheduler;
            by default, this process computes alone.
        skip_bad_partitions: whether to skip and report partitions (parts of the data) that fail.
        checkpoint: folder that stores the results of finished partitions; emptied when `running` succeeds.
        memory: memory of each process, such as ``1.5GB``; what exceeds it is spilled to disk.
        jobs_engine: name of the engine if only ``jobs`` is given; not an option.
        report: called with a line for each skipped input; not an option.
    """

    text_column: TextColumn = None
    label_column: LabelColumn = None
    encoding: FileEncoding = None
    weight: TreebankWeights = None
    renamings: Renamings = None
    skip_bad: SkipBad = False
    engine: EngineName = None
    jobs: Jobs = None
    scheduler: Scheduler = None
    skip_bad_partitions: SkipBadPartitions = False
    checkpoint: CheckpointFolder = None
    memory: MemorySize = None
    jobs_engine: str = "processes"
    report: Callable[[str], None] = note

    @property
    def engine_name(self) -> str | None:
        """Name of the execution engine to use; None to compute in this process."""
        if self.engine or self.scheduler:
            return self.engine or "dask"
        return self.jobs_engine if (self.jobs or 1) > 1 else None

    @cached_property
    def skipped(self) -> Skipped | None:
        """Callback for inputs that cannot be read; None if the first of them is an error."""
        return Skipped(self.report) if self.skip_bad else None

    @cached_property
    def renaming(self) -> list[str] | None:
        """Lines of the table of labels to rename, if any.

        Raises:
            InputError: the table cannot be read, or a line is invalid; see `read_renaming`.
        """
        from spectralnlp.trees.renaming import read_renaming

        return None if self.renamings is None else read_renaming(self.renamings)

    def reading(self, task: Task, method: str = "read", **more: tuple[str, Any]) -> dict[str, Any]:
        """Return the options of reading that were given, as keyword arguments of a method of a task.

        Args:
            task: task of the model or the estimator.
            method: ``read``, or ``read_gold``, for which weights have no meaning.
            more: further arguments of the method, as for `accepted`.

        Raises:
            ConfigError: the method does not take an option that was given.
            InputError: the table of labels to rename is invalid.
        """
        options = {
            "text_column": ("--text-column", self.text_column),
            "label_column": ("--label-column", self.label_column),
            "encoding": ("--encoding", self.encoding),
            "on_bad": ("--skip-bad", self.skipped),
            "map": ("--map", self.renaming),
        }
        if method == "read":
            options["weights"] = ("--weight", weights_of(self.weight))
        return accepted(task, method, {**options, **more})

    @contextmanager
    def running(
        self,
        what: str,
        *,
        kernels: bool = True,
        parser: str | None = None,
        meter: Meter | None = None,
        silent: bool = False,
    ) -> Iterator[Shown]:
        """Compute in the ``with`` block on the chosen engine and within the limits, and show progress.

        Args:
            what, meter, silent: see `progress`, whose progress line is yielded.
            kernels: see `announced_kernels`, argument ``here``.
            parser: see `announced_kernels`.
        """
        from spectralnlp.runtime import skip_bad_partitions, use_checkpoint, use_engine, use_memory

        with ExitStack() as limits:
            if self.memory is not None:
                limits.enter_context(use_memory(self.memory))
            policy = limits.enter_context(skip_bad_partitions(note)) if self.skip_bad_partitions else None
            kept = None if self.checkpoint is None else limits.enter_context(use_checkpoint(self.checkpoint))
            with ExitStack() as engine:
                if self.engine_name is not None:
                    options = {"jobs": self.jobs, "scheduler": self.scheduler}
                    given = {name: value for name, value in options.items() if value is not None}
                    engine.enter_context(use_engine(self.engine_name, **given))
                engine.enter_context(announced_kernels(here=kernels, parser=parser))
                yield engine.enter_context(progress(what, meter=meter, silent=silent))
            if kept is not None:
                kept.remove()
            if policy is not None and policy.bad:
                note(f"left out {len(policy.bad)} in all")

    def evaluated(self, task: Task, model: Any, gold: Any, what: str = "evaluating", **how: Any) -> Any:
        """Evaluate a model in as many threads as there are jobs, showing progress, and return the report.

        Args:
            task: task of the model.
            model: model to evaluate.
            gold: gold corpus.
            what: what the progress line shows, such as ``scoring``.
            how: further arguments of the task's ``evaluate``.
        """
        with Work(jobs=self.jobs, jobs_engine="threads").running(what):
            return task.evaluate(model, gold, **how)


HERE = Work()  # in this process, without limits


@cache
def _options_of_work() -> dict[str, inspect.Parameter]:
    hints = get_type_hints(Work, include_extras=True)
    kind = inspect.Parameter.KEYWORD_ONLY
    return {
        each.name: inspect.Parameter(each.name, kind, default=each.default, annotation=hints[each.name])
        for each in fields(Work)
    }


def command_options(names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces a command's parameter ``work`` by options.

    Args:
        names: names of fields of `Work`, and of parameters of the command that stand among them in the help.
    """
    order, known = names.split(), _options_of_work()

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters
        chosen = [name for name in order if name not in own]

        @wraps(command)
        def run(**values: Any) -> None:
            command(work=Work(**{name: values.pop(name) for name in chosen}), **values)

        # Typer derives the options from the signature and the annotations.
        parameters: list[inspect.Parameter] = []
        for name, each in own.items():
            if name == "work":
                parameters += [own.get(option) or known[option] for option in order]
            elif name not in order:
                parameters.append(each)
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate
