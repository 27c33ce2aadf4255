"""Command-line options for the execution engine, its memory limit, checkpoints and failures."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

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


@dataclass(frozen=True)
class Where:
    """Execution engine (threads, processes, Dask) chosen on the command line; by default, this process.

    Attributes:
        engine: name of the engine (``--engine``), if given.
        jobs: number of workers (``--jobs``), if given.
        scheduler: address of a Dask scheduler, if given.
        jobs_engine: name of the engine if only ``--jobs`` is given.
    """

    engine: str | None = None
    jobs: int | None = None
    scheduler: str | None = None
    jobs_engine: str = "processes"

    @property
    def name(self) -> str | None:
        """Name of the execution engine to use; None to compute in this process."""
        if self.engine or self.scheduler:
            return self.engine or "dask"
        return self.jobs_engine if (self.jobs or 1) > 1 else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run computations inside the ``with`` block on this execution engine."""
        from spectralnlp.runtime import use_engine

        if self.name is None:
            yield
            return
        options = {"jobs": self.jobs, "scheduler": self.scheduler}
        with use_engine(self.name, **{key: value for key, value in options.items() if value is not None}):
            yield


HERE = Where()  # this process
_ENGINE_OPTIONS = {"engine": EngineName, "scheduler": Scheduler, "jobs": Jobs}
_BY_NAME = inspect.Parameter.KEYWORD_ONLY


def engine_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces a command's parameter ``where`` by the options of an engine.

    Args:
        names: options among ``engine``, ``scheduler`` and ``jobs``, in the order of the help.
    """
    options = [
        inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_ENGINE_OPTIONS[name]
        )
        for name in names
    ]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**values: Any) -> None:
            command(where=Where(**{name: values.pop(name) for name in names}), **values)

        # Typer derives the options from the signature and the annotations.
        parameters: list[inspect.Parameter] = []
        for each in inspect.signature(command, eval_str=True).parameters.values():
            replaced = each.replace(kind=_BY_NAME)
            parameters += options if each.name == "where" else [replaced]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def evaluated(
    task: Any, model: Any, gold: Any, jobs: int | None, what: str = "evaluating", **how: Any
) -> Any:
    """Evaluate a model in several threads, showing progress, and return the report.

    Args:
        task: task of the model.
        model: model to evaluate.
        gold: gold corpus.
        jobs: number of threads.
        what: what the progress line shows, such as ``scoring``.
        how: further arguments of the task's ``evaluate``.
    """
    from spectralnlp.cli.console import announced_kernels, progress

    threads = Where(jobs=jobs, jobs_engine="threads")
    with threads.running(), announced_kernels(), progress(what):
        return task.evaluate(model, gold, **how)


@contextmanager
def limits(
    checkpoint: Path | None, *, skip_bad_partitions: bool = False, memory: str | None = None
) -> Iterator[None]:
    """Set the memory limit, the handling of failures and the checkpoint for the ``with`` block.

    Args:
        checkpoint: folder that stores the results of finished partitions; emptied when the block succeeds.
        skip_bad_partitions: leave out partitions (parts of the data) that fail, and report them.
        memory: memory of each process, such as ``1.5GB``; what exceeds it is spilled to disk.
    """
    from spectralnlp.cli.console import note
    from spectralnlp.runtime import skip_bad_partitions as skipping
    from spectralnlp.runtime import use_checkpoint, use_memory

    with ExitStack() as stack:
        if memory is not None:
            stack.enter_context(use_memory(memory))
        policy = stack.enter_context(skipping(note)) if skip_bad_partitions else None
        unfinished = stack.enter_context(use_checkpoint(checkpoint)) if checkpoint is not None else None
        yield
        if unfinished is not None:
            unfinished.remove()
        if policy is not None and policy.bad:
            note(f"left out {len(policy.bad)} in all")
