"""The number of threads of BLAS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from threadpoolctl import ThreadpoolController

from spectralnlp.runtime import reserve_blas_buffers

# The number of threads that BLAS might use before it was told to use one.
_allowed: ContextVar[int] = ContextVar("allowed", default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Have BLAS use one thread.

    Its sums are then the same to the byte on machines of any number of cores; and the many small products
    of an estimator gain nothing from threads but wait for one another on a busy machine.

    Raises:
        MemoryError: there is no room for BLAS.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp.linalg import one_blas_thread
        >>> with one_blas_thread():
        ...     product = np.ones((2, 2)) @ np.ones((2, 2))
        ...
        >>> float(product.sum())
        8.0
    """
    controller = ThreadpoolController()
    reserve_blas_buffers(1, controller)
    libraries = controller.select(user_api="blas").lib_controllers
    before = max((library.num_threads or 1 for library in libraries), default=1)
    token = _allowed.set(max(before, _allowed.get()))
    try:
        with controller.limit(limits=1, user_api="blas"):
            yield
    finally:
        _allowed.reset(token)


@contextmanager
def map_in_threads() -> Iterator[Callable[[Callable[[Any], None], Iterable[Any]], Iterable[None]]]:
    """Within `one_blas_thread`, share independent products among the threads that BLAS does not use.

    Yields:
        `map`, or that of a pool of as many threads as BLAS might use before: ``OPENBLAS_NUM_THREADS``
        and the like limit it.

    Raises:
        MemoryError: there is no room for BLAS.

    Examples:
        >>> found = []
        >>> with map_in_threads() as each:
        ...     done = list(each(found.append, "ab"))
        ...
        >>> found
        ['a', 'b']
    """
    if _allowed.get() == 1:
        yield map
    else:
        reserve_blas_buffers(_allowed.get())
        with ThreadPoolExecutor(_allowed.get()) as pool:
            yield pool.map
