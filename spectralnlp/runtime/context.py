"""Execution context: the engine, checkpoint, skip policy, memory limit and progress callbacks in use.

These are not arguments of ``fit`` or ``parse_many``. Each has its own context manager, such as `use_engine`,
which changes one field inside a ``with`` block::

    with use_engine("processes", jobs=4):
        estimator.fit(corpus)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from spectralnlp import registry
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.runtime.checkpoint import Checkpoint
from spectralnlp.runtime.engine import Engine, SerialEngine
from spectralnlp.runtime.reduction import SkipPolicy
from spectralnlp.runtime.spill import Memory, temporary_memory


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Settings for every pass over a corpus, whether it accumulates moments or maps a function over examples.

    Attributes:
        engine: engine of `use_engine`; None if there is none, so that all work is done serially.
        checkpoint: checkpoint of `use_checkpoint`; None to store nothing.
        skip_policy: policy of `skip_bad_partitions`; None to stop at the first partition that fails.
        memory: limit of `use_memory`; None for no limit.
        report: progress callback of `timed_passes`, called with a line for each pass; None for no report.
        show_share: called with the completed share of a training run, in [0, 1]; None to show nothing.
    """

    engine: Engine | None = None
    checkpoint: Checkpoint | None = None
    skip_policy: SkipPolicy | None = None
    memory: Memory | None = None
    report: Callable[[str], None] | None = None
    show_share: Callable[[float], None] | None = None

    __repr__ = one_line


_DEFAULT = Execution()
_current = ContextVar("spectralnlp.execution", default=_DEFAULT)


def current_execution() -> Execution:
    """Return the current execution settings."""
    return _current.get()


@contextmanager
def executing(**changes: Any) -> Iterator[None]:
    """Change some execution settings inside a ``with`` block.

    Args:
        changes: new values for fields of `Execution`.
    """
    outer = _current.get()
    _current.set(replace(outer, **changes))
    try:
        yield
    finally:
        # Only these fields are reset, because generators may leave their blocks in another order than they
        # entered.
        _current.set(replace(_current.get(), **{name: getattr(outer, name) for name in changes}))


def current_engine() -> Engine:
    """Return the engine of the innermost `use_engine` block, or the serial engine if there is no block."""
    return current_execution().engine or SerialEngine()


@contextmanager
def use_engine(name: str, /, **options: object) -> Iterator[Engine]:
    """Process corpora inside the ``with`` block on a given engine: serially, on threads or on processes.

    Args:
        name: ``serial``, ``threads``, ``processes``, or the name of a plugin's engine.
        options: options of the engine, such as ``jobs``.

    Raises:
        RegistryError: there is no such engine, or it cannot be loaded.
        ConfigError: the engine has no such option.

    Examples:
        >>> import spectralnlp
        >>> with spectralnlp.use_engine("threads", jobs=2):
        ...     parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg")
        ...
        >>> parser.task
        'parsing'
    """
    kind = registry.engines.get(name)
    try:
        engine: Engine = kind(**options)
    except TypeError as error:
        listed = " and ".join(f"`{option}`" for option in options)
        what = f"the engine {name} does not take {listed}"
        raise ConfigError(what, hint="leave it out, or take another engine") from error
    with executing(engine=engine):
        try:
            engine.open()
            yield engine
        finally:
            engine.close()


def current_checkpoint() -> Checkpoint | None:
    """Return the checkpoint of the innermost `use_checkpoint` block; None if there is no block."""
    return current_execution().checkpoint


@contextmanager
def use_checkpoint(folder: str | Path) -> Iterator[Checkpoint]:
    """Store results of passes over the data in a ``with`` block, and reuse results of an earlier run.

    The files remain after the block, even without an error. To delete them once the model is saved, call
    `Checkpoint.remove`; the ``with`` statement yields the `Checkpoint`.

    Args:
        folder: a folder that all workers can see; created if missing.

    Raises:
        ConfigError: the folder cannot be written, or holds files that are not of a checkpoint.

    Examples:
        >>> import tempfile
        >>> import spectralnlp
        >>> with tempfile.TemporaryDirectory() as folder, spectralnlp.use_checkpoint(folder):
        ...     parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg")
        ...
        >>> parser.task
        'parsing'
    """
    checkpoint = Checkpoint(folder)
    with executing(checkpoint=checkpoint):
        yield checkpoint


def current_skip_policy() -> SkipPolicy | None:
    """Return the policy of the innermost `skip_bad_partitions` block; None if there is no block."""
    return current_execution().skip_policy


@contextmanager
def skip_bad_partitions(report: Callable[[str], None]) -> Iterator[SkipPolicy]:
    """Skip partitions (such as files) that fail inside the ``with`` block, instead of stopping at the first.

    Args:
        report: called with one line for each skipped partition.
    """
    policy = SkipPolicy(report)
    with executing(skip_policy=policy):
        yield policy


def current_memory() -> Memory | None:
    """Return the memory limit of the innermost `use_memory` block; None if memory is not limited."""
    return current_execution().memory


@contextmanager
def use_memory(size: str | int, *, folder: str | Path | None = None) -> Iterator[Memory]:
    """Limit memory inside the ``with`` block: data beyond the limit is written to disk.

    Args:
        size: limit for each process. A text such as ``1GB`` (see `parse_size`) limits the peak memory of the
            whole process, including about 200 MB for the program itself. An integer limits the learned data
            alone, in bytes.
        folder: parent of the temporary folder; by default the system's folder for temporary files.

    Raises:
        ConfigError: the size is invalid, or the folder cannot be made.

    Examples:
        >>> import spectralnlp
        >>> with spectralnlp.use_memory("1GB"):
        ...     model = spectralnlp.train("hmm", [["a", "b"], ["b", "a"]], n_states=1)
        ...
        >>> model.task
        'sequences'
    """
    with temporary_memory(size, folder) as memory, executing(memory=memory):
        yield memory
