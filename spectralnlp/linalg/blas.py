"""Control how many threads BLAS uses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from threadpoolctl import ThreadpoolController

from spectralnlp.runtime import reserve_blas_buffers

# Number of threads that BLAS could use before `one_blas_thread` limited it.
_allowed: ContextVar[int] = ContextVar("allowed", default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread within a ``with`` block.

    Results are then identical to the byte on machines with any number of cores. The many small products of
    an estimator gain nothing from threads, which only wait for one another on a busy machine.

    Raises:
        MemoryError: there is not enough memory for BLAS.

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
    """Context manager that gives a parallel `map`, for independent matrix products on several threads.

    Use it within `one_blas_thread`, so that BLAS does not start threads of its own.

    Yields:
        A function like `map`, with as many threads as BLAS could use before `one_blas_thread` limited it (at
        most ``OPENBLAS_NUM_THREADS``, or a similar variable). With one thread, this is the built-in `map`.

    Raises:
        MemoryError: there is not enough memory for BLAS.

    Examples:
        >>> from spectralnlp.linalg import map_in_threads
        >>> results = []
        >>> with map_in_threads() as parallel_map:
        ...     done = list(parallel_map(results.append, "ab"))
        ...
        >>> results
        ['a', 'b']
    """
    if _allowed.get() == 1:
        yield map
    else:
        reserve_blas_buffers(_allowed.get())
        with ThreadPoolExecutor(_allowed.get()) as pool:
            yield pool.map
