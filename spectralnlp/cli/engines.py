"""Options that say where work is done, in how much memory, and what happens when a part of it fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeAlias

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
    typer.Option("--memory", metavar="SIZE", help="Of each process, e.g. 1.5GB; counts beyond go to disk."),
]
CheckpointFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--checkpoint", metavar="DIR", help="Keep what is finished here; a later run goes on."),
]


@dataclass(frozen=True)
class Where:
    """The engine that was asked for: processes if only ``--jobs`` was, and this process by default."""

    engine: str | None = None
    jobs: int | None = None
    scheduler: str | None = None

    @property
    def name(self) -> str | None:
        """The engine's; None for this process."""
        return self.engine or ("dask" if self.scheduler else "processes" if (self.jobs or 1) > 1 else None)

    @contextmanager
    def running(self) -> Iterator[None]:
        """With this engine."""
        from spectralnlp.runtime import use_engine

        if self.name is None:
            yield
            return
        options = {"jobs": self.jobs, "scheduler": self.scheduler}
        with use_engine(self.name, **{key: value for key, value in options.items() if value is not None}):
            yield


@contextmanager
def limits(
    checkpoint: Path | None, *, skip_bad_partitions: bool = False, memory: str | None = None
) -> Iterator[None]:
    """Keep what is finished in a folder until the block has come to its end; leave out what fails; spill."""
    from spectralnlp.cli.console import note
    from spectralnlp.runtime import skip_bad_partitions as skipping
    from spectralnlp.runtime import use_checkpoint, use_memory

    with ExitStack() as stack:
        if memory is not None:
            stack.enter_context(use_memory(memory))
        tolerance = stack.enter_context(skipping(note)) if skip_bad_partitions else None
        kept = stack.enter_context(use_checkpoint(checkpoint)) if checkpoint is not None else None
        yield
        if kept is not None:
            kept.remove()
        if tolerance is not None and tolerance.bad:
            note(f"left out {len(tolerance.bad)} in all")
