"""Moments (state that can be merged) of SENT: a sketch of the n-gram counts of a stream of texts."""

from __future__ import annotations

from typing import ClassVar

from spectralnlp.runtime import Batch
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_texts, count_ngrams
from spectralnlp_sketch.rows import Rows


class NgramDirections(FrequentDirectionsMoments):
    """Frequent-directions sketch B of the word n-gram counts X of texts, one row of X for each text.

    The error is bounded by 0 ⪯ XᵀX − BᵀB ⪯ bound·I. Rows are collected in a buffer, which is merged
    into B whenever it is full. If all rows fit into the buffer, the directions of B are nearly those of X.

    Args:
        sketch_size: number of rows of the sketch, l.
        n_features: number of columns that n-grams are hashed to, a power of two.
        words: numbers of words of the shortest and the longest n-grams.
        buffer_rows: number of rows that the buffer holds; None for `default_buffer`.
        seed: seed of the sketch.
    """

    pass_name = "directions"
    batch_size: ClassVar[int] = 4096

    def __init__(
        self,
        sketch_size: int,
        n_features: int,
        words: tuple[int, int],
        buffer_rows: int | None = None,
        seed: int = 0,
    ) -> None:
        self.n_features, self.words = n_features, (words[0], words[1])
        self.format = NgramFormat(self.words, None, n_features)
        super().__init__(
            sketch_size, n_features, dtype="float32", sparse=True, buffer_rows=buffer_rows, seed=seed
        )

    def observe(self, batch: Batch[str]) -> None:
        """Add the n-gram counts of a batch of texts to the sketch.

        Raises:
            TextError: an example is not a text.
        """
        counts = count_ngrams(checked_texts(batch.examples), self.format)
        super().observe(Batch(Rows(counts), batch.document, batch.document_index, batch.start))
