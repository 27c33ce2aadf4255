"""Moments of TMPCA: the mean of each position, then the scatter matrix of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Moments
from spectralnlp_sketch.tmpca.segments import Elements

Floats = NDArray[Any]


# Sequences whose products are added up at a time: they stay in the cache.
BATCH = 512


class PositionMoments(Moments[Any]):
    """Sums of the real elements at each of N positions, and how many there are.

    Args:
        length: N.
        size: D.
    """

    pass_name = "means"
    batch_size = BATCH

    def __init__(self, length: int, size: int) -> None:
        self.length, self.size = length, size
        self.sums: NDArray[np.float64] = np.zeros((length, size))
        self.counts = np.zeros(length, np.int64)
        self.n_rows = np.zeros((), np.int64)

    def observe(self, batch: Batch[Any]) -> None:
        """Add sequences: `Elements`, or pairs of values (N, D) and which are real (N,)."""
        elements = Elements.of(batch, self.length, self.size)
        self.sums += elements.values.sum(axis=0, dtype=np.float64)  # what is not real is zero
        self.counts += elements.real.sum(axis=0)
        self.n_rows += len(elements)

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean of the real elements at each position (N, D); zero where there are none."""
        return self.sums / np.maximum(self.counts, 1)[:, None]

    def parameters(self) -> dict[str, Any]:
        """Length and size."""
        return {"length": self.length, "size": self.size}

    def arrays(self) -> dict[str, Floats]:
        """``sums``: float64 (N, D); ``counts``: int64 (N,); ``n_rows``: int64 ()."""
        return {"sums": self.sums, "counts": self.counts, "n_rows": self.n_rows}


class StageMoments(Moments[Any]):
    """The scatter matrix of what a stage sees: neighbouring elements of the stage before, side by side.

    Args:
        means: (N, D), subtracted first; what is not real becomes zero, that is, stands at the mean.
        branching: P, elements that are put side by side.
        system: U of the stages before (D, P^(s−1)·D), from that many elements to one; None: there are none.
    """

    pass_name = "stage"
    batch_size = BATCH

    def __init__(self, means: Floats, branching: int, system: Floats | None = None) -> None:
        self.means, self.branching, self.system = means, branching, system
        width = branching * means.shape[1]
        self.scatter: NDArray[np.float64] = np.zeros((width, width))
        self.n_rows = np.zeros((), np.int64)

    def observe(self, batch: Batch[Any]) -> None:
        """Add sequences: `Elements`, or pairs of values (N, D) and which are real (N,)."""
        rows = centred(Elements.of(batch, *self.means.shape), self.means)
        if self.system is not None:
            system = self.system.astype(rows.dtype, copy=False)
            rows = rows.reshape(-1, system.shape[1]) @ system.T
        rows = rows.reshape(-1, len(self.scatter))
        self.scatter += rows.T @ rows
        self.n_rows += len(rows)

    def parameters(self) -> dict[str, Any]:
        """Means, P and the stages before."""
        return {"means": self.means, "branching": self.branching, "system": self.system}

    def arrays(self) -> dict[str, Floats]:
        """``scatter``: float64 (PD, PD); ``n_rows``: int64 ()."""
        return {"scatter": self.scatter, "n_rows": self.n_rows}


def centred(elements: Elements, means: Floats) -> Floats:
    """Elements less the mean of their position (m, N, D); zero where they are not real."""
    if not means.any():
        return elements.values  # what is not real is zero
    values = elements.values - means.astype(elements.values.dtype)
    if not elements.real.all():
        values *= elements.real[:, :, None]
    return values


def extend(stage: Floats, system: Floats | None) -> Floats:
    """U of one stage more: the block U_j of a stage applied to what its j-th element came from.

    TMPCA, equation 20: the product of one block a stage for each element of the sequence.

    Args:
        stage: U^s (D, P·D).
        system: U of the stages before (D, M·D); None: there are none.

    Returns:
        (D, P·M·D).
    """
    if system is None:
        return stage
    size = len(stage)
    blocks: Sequence[Floats] = np.split(stage, stage.shape[1] // size, axis=1)
    return np.hstack([block @ system for block in blocks])
