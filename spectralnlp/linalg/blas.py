"""The number of threads of BLAS."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

from spectralnlp.runtime import reserve_blas_buffers


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
    with controller.limit(limits=1, user_api="blas"):
        yield
