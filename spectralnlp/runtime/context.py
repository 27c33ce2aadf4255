"""How work is run: one context for the engine, the checkpoint, the skip policy, the memory and the progress.

None of these is an argument of ``fit`` or ``parse_many``. Each has a context manager of its own, such as
`spectralnlp.runtime.use_engine`, which changes one field for the time of a ``with`` block.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp.runtime.checkpoint import Checkpoint
    from spectralnlp.runtime.engine import Engine
    from spectralnlp.runtime.reduction import SkipPolicy
    from spectralnlp.runtime.spill import Memory


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How work is run.

    Attributes:
        engine: of `use_engine`; None outside of all, where passes and maps are serial.
        checkpoint: of `use_checkpoint`; None to keep nothing.
        skip_policy: of `skip_bad_partitions`; None to stop at the first partition that fails.
        memory: of `use_memory`; None for no limit.
        report: progress callback of `timed_passes`, called with a line for each pass; None for no report.
    """

    engine: Engine | None = None
    checkpoint: Checkpoint | None = None
    skip_policy: SkipPolicy | None = None
    memory: Memory | None = None
    report: Callable[[str], None] | None = None


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
