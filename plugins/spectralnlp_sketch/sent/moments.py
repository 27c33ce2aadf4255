"""Frequent directions of the counts of n-grams of a stream of texts."""

from __future__ import annotations

from typing import Any, ClassVar

from spectralnlp.runtime import Batch
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_texts, count_ngrams
from spectralnlp_sketch.rows import Rows


class NgramDirections(FrequentDirectionsMoments):
    """B with 0 ⪯ XᵀX − BᵀB ⪯ bound·I for the counts X of n-grams of words, a row a text.

    As many rows as fit a buffer are held as they are, and their directions are exact.

    Args:
        sketch_size: l.
        n_features: columns that n-grams are hashed to, a power of two.
        words: shortest and longest n-gram.
        buffer_rows: rows that are shrunk at a time; None: `default_buffer`.
        seed: of the sketch.
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
        self.format = NgramFormat((words[0], words[1]), None, n_features)
        super().__init__(
            sketch_size, n_features, dtype="float32", sparse=True, buffer_rows=buffer_rows, seed=seed
        )

    def observe(self, batch: Batch[str]) -> None:
        """Add texts.

        Raises:
            TextError: something is no text.
        """
        counts = count_ngrams(checked_texts(batch.examples), self.format)
        super().observe(Batch(Rows(counts), batch.document, batch.document_index, batch.start))

    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {
            "sketch_size": self.sketch_size,
            "n_features": self.n_columns,
            "words": self.format.words,
            "buffer_rows": self.buffer_rows,
            "seed": self.seed,
        }
