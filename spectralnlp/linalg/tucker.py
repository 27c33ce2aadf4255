"""Low-rank forms of small tensors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def tucker(tensor: Floats, *, tolerance: float) -> tuple[Floats, list[Floats]]:
    """A core and one orthonormal basis an axis (the higher-order SVD, De Lathauwer et al. 2000, theorem 2).

    Args:
        tensor: float64, of any order.
        tolerance: bound on the relative error in the Frobenius norm.

    Returns:
        The core, of shape (r_1, …, r_n), and bases of shape (m_i, r_i): the tensor is about the core
        multiplied along each axis i by basis i.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp.linalg import tucker
        >>> a, b, c = np.eye(4)[:3]
        >>> core, bases = tucker(np.einsum("i,j,k->ijk", a, b, c), tolerance=1e-6)
        >>> core.shape, [basis.shape for basis in bases]
        ((1, 1, 1), [(4, 1), (4, 1), (4, 1)])
    """
    budget = (tolerance * np.linalg.norm(tensor)) ** 2 / tensor.ndim
    bases = []
    core = tensor
    for axis in range(tensor.ndim):
        unfolded = np.moveaxis(tensor, axis, 0).reshape(tensor.shape[axis], -1)
        squares, u = np.linalg.eigh(unfolded @ unfolded.T)  # ascending
        error = np.cumsum(np.maximum(squares, 0.0))  # squared, of dropping the first so many
        basis = u[:, min(int((error <= budget).sum()), len(u) - 1) :]
        bases.append(basis)
        core = np.moveaxis(np.tensordot(core, basis, axes=(axis, 0)), -1, axis)
    return core, bases
