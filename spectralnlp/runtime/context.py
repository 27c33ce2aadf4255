"""How work is run: one context for the engine, the checkpoint, the skip policy, the memory and the progress.

None of these is an argument of ``fit`` or ``parse_many``. Each has a context manager of its own, such as
`use_engine`, which changes one field for the time of a ``with`` block::

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
    """How work is run.

    Attributes:
        engine: of `use_engine`; None outside of all, where passes and maps are serial.
        checkpoint: of `use_checkpoint`; None to keep nothing.
        skip_policy: of `skip_bad_partitions`; None to stop at the first partition that fails.
        memory: of `use_memory`; None for no limit.
        report: progress callback of `timed_passes`, called with a line for each pass; None for no report.
        show_share: called with the share of a training that is done, in [0, 1]; None to show nothing.
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
    """Return the context that applies here."""
    return _current.get()


@contextmanager
def executing(**changes: Any) -> Iterator[None]:
    """Change some fields of the context inside the ``with`` block.

    Args:
        changes: of the fields of `Execution`.
    """
    outer = _current.get()
    _current.set(replace(outer, **changes))
    try:
        yield
    finally:
        # Only these fields are set back: generators need not leave their blocks in the order of entering.
        _current.set(replace(_current.get(), **{name: getattr(outer, name) for name in changes}))


def current_engine() -> Engine:
    """Return the engine of the innermost `use_engine`; serial outside of all."""
    return current_execution().engine or SerialEngine()


@contextmanager
def use_engine(name: str, /, **options: object) -> Iterator[Engine]:
    """Run the verbs inside the ``with`` block on a registered engine.

    Args:
        name: ``serial``, ``threads``, ``processes``, or a plugin's.
        options: of the engine, such as ``jobs``.

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
        given = " and ".join(f"`{option}`" for option in options)
        what = f"the engine {name} does not take {given}"
        raise ConfigError(what, hint="leave it out, or take another engine") from error
    with executing(engine=engine):
        try:
            engine.open()
            yield engine
        finally:
            engine.close()


def current_checkpoint() -> Checkpoint | None:
    """Return the checkpoint of the innermost `use_checkpoint`; None outside of all."""
    return current_execution().checkpoint


@contextmanager
def use_checkpoint(folder: str | Path) -> Iterator[Checkpoint]:
    """Inside the ``with`` block, keep the moments of finished partitions, and use those that are there.

    What is kept stays when the block is left, by an error or not: call ``remove`` once the model is saved.

    Args:
        folder: one that all workers see; it is made if it is not there.

    Raises:
        ConfigError: the folder cannot be written, or holds something else.

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
    """Return the policy of the innermost `skip_bad_partitions`; None outside of all."""
    return current_execution().skip_policy


@contextmanager
def skip_bad_partitions(report: Callable[[str], None]) -> Iterator[SkipPolicy]:
    """Inside the ``with`` block, leave out partitions that fail, instead of stopping at the first.

    Args:
        report: called with a line for each.
    """
    policy = SkipPolicy(report)
    with executing(skip_policy=policy):
        yield policy


def current_memory() -> Memory | None:
    """Return the memory of the innermost `use_memory`; None, without a limit, outside of all."""
    return current_execution().memory


@contextmanager
def use_memory(size: str | int, *, folder: str | Path | None = None) -> Iterator[Memory]:
    """Have what grows beyond its share of memory go to disk, inside the ``with`` block.

    Args:
        size: of each process, as text for `parse_size`: its peak, the program itself included, which takes
            some 200 MB. Or bytes, for what is learned alone.
        folder: where the temporary folder is made; by default where the system has such.

    Raises:
        ConfigError: the size makes no sense, or the folder cannot be made.

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
