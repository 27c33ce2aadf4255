"""Moments of TMPCA (statistics that add up): the mean of each position, then the scatter of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Moments
from spectralnlp_sketch.tmpca.segments import Elements

Floats = NDArray[Any]


# Number of sequences whose products are added at a time, so that they stay in the cache.
BATCH = 512


class PositionMoments(Moments[Any]):
    """Sum and number of the vectors at each of N positions of sequences, from which their means follow.

    Padding is not counted.

    Args:
        length: length of sequences, N.
        size: vector size, D.
    """

    pass_name = "means"
    batch_size = BATCH

    def __init__(self, length: int, size: int) -> None:
        self.length, self.size = length, size
        self.sums: NDArray[np.float64] = np.zeros((length, size))
        self.counts = np.zeros(length, np.int64)
        self.n_rows = np.zeros((), np.int64)

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of sequences to the sums and counts.

        Args:
            batch: `Elements`, or pairs of values (N, D) and a mask (N,) that is False for padding.
        """
        elements = Elements.of(batch, self.length, self.size)
        self.sums += elements.values.sum(axis=0, dtype=np.float64)  # padding is zero
        self.counts += elements.real.sum(axis=0)
        self.n_rows += len(elements)

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean of the vectors at each position, without padding (N, D); zero where there are no vectors."""
        return self.sums / np.maximum(self.counts, 1)[:, None]

    def arrays(self) -> dict[str, Floats]:
        """Return the state to save.

        Returns:
            ``sums``, the sum of the vectors at each position, float64 (N, D); ``counts``, the number of
            vectors at each position without padding, int64 (N,); ``n_rows``, the number of sequences, int64
            ().
        """
        return {"sums": self.sums, "counts": self.counts, "n_rows": self.n_rows}


class StageMoments(Moments[Any]):
    """Scatter matrix for the PCA of a stage of TMPCA, whose input is the output of the previous stages.

    Each row concatenates P adjacent elements; the elements of stage s are the vectors after stage s − 1.

    Args:
        means: mean of each position of the sequences (N, D), which is subtracted; padding becomes zero.
        branching: number of elements to concatenate, P.
        system: matrix U of the previous stages (D, P^(s−1)·D), which maps P^(s−1) vectors to one; None at
            the first stage, or if the sequences are already the output of the previous stages.
    """

    pass_name = "stage"
    batch_size = BATCH

    def __init__(self, means: Floats, branching: int, system: Floats | None = None) -> None:
        self.means, self.branching, self.system = means, branching, system
        width = branching * means.shape[1]
        self.scatter: NDArray[np.float64] = np.zeros((width, width))
        self.n_rows = np.zeros((), np.int64)

    def observe(self, batch: Batch[Any]) -> None:
        """Add a batch of sequences to the scatter matrix.

        Args:
            batch: `Elements`, or pairs of values (N, D) and a mask (N,) that is False for padding.
        """
        rows = centred(Elements.of(batch, *self.means.shape), self.means)
        if self.system is not None:
            system = self.system.astype(rows.dtype, copy=False)
            rows = rows.reshape(-1, system.shape[1]) @ system.T
        rows = rows.reshape(-1, len(self.scatter))
        self.scatter += rows.T @ rows
        self.n_rows += len(rows)

    def arrays(self) -> dict[str, Floats]:
        """Return the state to save: the scatter matrix and the number of rows in it.

        Returns:
            ``scatter``, float64 (PD, PD), and ``n_rows``, int64 ().
        """
        return {"scatter": self.scatter, "n_rows": self.n_rows}


def centred(elements: Elements, means: Floats) -> Floats:
    """Subtract the mean of each position from elements (m, N, D); padding is zero."""
    if not means.any():
        return elements.values  # padding is zero
    values = elements.values - means.astype(elements.values.dtype)
    if not elements.real.all():
        values *= elements.real[:, :, None]
    return values


def extend(stage: Floats, system: Floats | None) -> Floats:
    """Return the matrix U of all stages after one more stage, as in Su, Lin and Kuo 2019, equation 20.

    Each of the P blocks (D, D) of the new stage is multiplied by the previous U.

    Args:
        stage: U^s (D, P·D).
        system: U of the previous stages (D, M·D), which maps M vectors to one; None for the first stage.

    Returns:
        U (D, P·M·D), which maps P·M vectors to one.
    """
    if system is None:
        return stage
    size = len(stage)
    blocks: Sequence[Floats] = np.split(stage, stage.shape[1] // size, axis=1)
    return np.hstack([block @ system for block in blocks])
