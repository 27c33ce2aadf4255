"""Moments (statistics that add up) for tf-idf: the number of texts in which each hashed n-gram occurs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch, Moments
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_text, count_ngrams, smoothed_idf


class DocumentFrequencies(Moments[str]):
    """Document frequencies: the number of texts in which each column, a hash of n-grams, occurs.

    Args:
        n_columns, words, characters, lowercase: format of n-grams, as in `NgramFormat`.
    """

    subtractable = True
    pass_name = "document frequencies"
    batch_size = 8192

    def __init__(
        self,
        n_columns: int,
        words: tuple[int, int] | None = (1, 2),
        characters: tuple[int, int] | None = (2, 5),
        lowercase: bool = True,
    ) -> None:
        self.n_columns, self.words, self.characters, self.lowercase = n_columns, words, characters, lowercase
        self.format = NgramFormat(words, characters, n_columns, lowercase)
        self.frequencies = np.zeros(n_columns, np.int64)
        self.n_texts = np.zeros((), np.int64)

    def observe(self, batch: Batch[str]) -> None:
        """Add a batch of texts to the document frequencies."""
        self.add(count_ngrams(list(batch.mapped(checked_text)), self.format))

    def add(self, counts: sp.csr_array) -> None:
        """Add texts, given as n-gram counts (n_texts, n_columns), to the document frequencies."""
        self.frequencies += np.bincount(counts.indices, minlength=len(self.frequencies))
        self.n_texts += counts.shape[0]

    @property
    def idf(self) -> NDArray[np.float32]:
        """Inverse document frequency ln((1 + n)/(1 + df)) + 1 of each column, float32 (n_columns,)."""
        return smoothed_idf(int(self.n_texts), self.frequencies).astype(np.float32)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the state to save.

        Returns:
            ``frequencies``, the number of texts in which each column occurs, int64 (n_columns,); ``n_texts``,
            the number of all texts, int64 ().
        """
        return {"frequencies": self.frequencies, "n_texts": self.n_texts}
