"""Compress small tensors by Tucker decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tucker(tensors: NDArray[Any], *, tolerance: float) -> list[tuple[Floats, list[Floats]]]:
    """Decompose tensors by the truncated higher-order SVD (De Lathauwer et al. 2000, theorem 2).

    Args:
        tensors: n tensors of one shape, float (n, m_1, …, m_k).
        tolerance: bound on the relative error of each tensor, in the Frobenius norm.

    Returns:
        For each tensor its core (r_1, …, r_k) and one orthonormal basis (m_i, r_i) per axis, float64. The
        tensor is approximately the core multiplied along each axis i by basis i.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp.linalg import tucker
        >>> a, b, c = np.eye(4)[:3]
        >>> ((core, bases),) = tucker(np.einsum("i,j,k->ijk", a, b, c)[None], tolerance=1e-6)
        >>> core.shape, [basis.shape for basis in bases]
        ((1, 1, 1), [(4, 1), (4, 1), (4, 1)])
    """
    cores = tensors.astype(np.float64, copy=False)
    n, order = len(cores), cores.ndim - 1
    budget = (tolerance * np.linalg.norm(cores.reshape(n, -1), axis=1)) ** 2 / order
    all_bases, dropped = [], []
    for axis in range(1, order + 1):
        m = cores.shape[axis]
        # Rotating one axis leaves the Gram matrices along the other axes unchanged.
        unfolded = np.moveaxis(cores, axis, 1).reshape(n, m, -1)
        squares, u = np.linalg.eigh(unfolded @ unfolded.transpose(0, 2, 1))  # ascending
        error = np.cumsum(np.maximum(squares, 0.0), axis=1)  # squared error of dropping the first components
        dropped.append(np.minimum((error <= budget[:, None]).sum(axis=1), m - 1))
        all_bases.append(u)
        turned = u.transpose(0, 2, 1) @ unfolded
        others = tuple(size for other, size in enumerate(cores.shape[1:], 1) if other != axis)
        cores = np.moveaxis(turned.reshape(n, m, *others), 1, axis)
    results = []
    for number in range(n):
        kept = [slice(int(each[number]), None) for each in dropped]
        bases = [u[number][:, part] for u, part in zip(all_bases, kept, strict=True)]
        results.append((cores[number][tuple(kept)], bases))
    return results
