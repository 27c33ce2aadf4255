"""How a head learns, and what each part of the features weighs: constants for few texts a label and for many.

Both were chosen inside training sets. To choose among six settings for each set of texts instead, on texts
held out, was worth 0.1 points (six corpora, 1,000 texts each), no more than chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array32 = NDArray[np.float32]

# With fewer texts than so many times the perplexity of labels, labels have few texts.
FEW_TEXTS = 40
# Mean squared length of a text's features: of words and of characters each 1.
SQUARE = 2.0


@dataclass(frozen=True)
class HeadSettings:
    """Settings of a head.

    Attributes:
        loss: ``logistic`` or ``hinge``, of `fit_head` and `fit_svm`.
        C: weight of the loss, where the features of a text have a mean squared length of `SQUARE`.
        dense: weight of the squared lengths of projections, beside 1 for each kind of n-grams.
        pairs: weight of the squared length of pairs of words.
    """

    loss: Literal["logistic", "hinge"]
    C: float
    dense: float
    pairs: float

    def scale(self, rows: sp.csr_array, n_single: int, dense: Array32) -> float:
        """Return the factor that gives weighted features the mean squared length `SQUARE`.

        Args:
            rows: n-grams of texts, and from column ``n_single`` on pairs.
            n_single: how many n-grams are no pairs.
            dense: float32 (n, d); projections.
        """
        squares = rows.data.astype(np.float64) ** 2
        of_pairs = float(squares[rows.indices >= n_single].sum())
        weighted = float(squares.sum()) - of_pairs + self.pairs * of_pairs
        weighted += self.dense * float(np.einsum("ij,ij->", dense, dense, dtype=np.float64))
        return float((SQUARE * max(len(dense), 1) / max(weighted, 1e-9)) ** 0.5)


FEW = HeadSettings("logistic", C=60.0, dense=1.0, pairs=0.3)
MANY = HeadSettings("hinge", C=2.0, dense=0.1, pairs=1.0)


def are_few(labels: NDArray[np.int64]) -> bool:
    """Whether labels have so few texts that their names and unlabelled texts help."""
    return len(labels) < FEW_TEXTS * perplexity_of(labels)


def perplexity_of(labels: NDArray[np.int64]) -> float:
    """The perplexity of labels: so many equally frequent ones would be as hard to guess."""
    shares = np.unique(labels, return_counts=True)[1] / len(labels)
    return float(np.exp(-(shares * np.log(shares)).sum()))
