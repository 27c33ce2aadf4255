"""Weights of the model that predicts which spans (open chart cells) a parser should consider."""

from __future__ import annotations

from dataclasses import dataclass

from spectralnlp.display import one_line
from spectralnlp.parameters.hashed import HashedModel


@dataclass(frozen=True, kw_only=True, eq=False)
class CellModel(HashedModel):
    """Conditional random field over unlabelled binary bracketings, with hashed features.

    Attributes:
        weights: float32 (a power of two,); the weight of feature f is ``weights[f % len(weights)]``.
        threshold: marginal probability below which the parser does not consider a span, unless it finds no
            parse otherwise.
    """

    __repr__ = one_line
