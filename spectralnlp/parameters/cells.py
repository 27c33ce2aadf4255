"""Weights of the model that says which cells of a chart open."""

from __future__ import annotations

from dataclasses import dataclass

from spectralnlp.display import one_line
from spectralnlp.parameters.hashed import HashedModel


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel(HashedModel):
    """A conditional random field over binary bracketings without labels; its features are hashed.

    Attributes:
        weights: float32 (a power of two,); feature f has ``weights[f % len(weights)]``.
        threshold: cells whose marginal is below it are closed.
    """

    __repr__ = one_line
