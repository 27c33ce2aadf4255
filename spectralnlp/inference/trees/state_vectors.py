"""Vectors of a forest's nodes over the states of a latent-variable grammar."""

from __future__ import annotations

from typing import NamedTuple

from spectralnlp.parameters import Floats, Offsets


class StateVectors(NamedTuple):
    """Vectors of a forest's nodes over the states of their symbols, laid end to end.

    Attributes:
        offsets: int64 (n_nodes + 1,); node v has ``offsets[v]:offsets[v + 1]``.
        inside, outside: float64 (offsets[-1],).
    """

    offsets: Offsets
    inside: Floats
    outside: Floats
