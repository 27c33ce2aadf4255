"""Moments (state that can be merged) of SENT and SENT+: sketches of n-gram counts, and labelled queries."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from spectralnlp.runtime import Batch
from spectralnlp_sketch.frequent_directions.moments import FrequentDirectionsMoments
from spectralnlp_sketch.hashing.ngrams import NgramFormat, checked_text, count_ngrams, spaced_words
from spectralnlp_sketch.intent.text_log import TextLog
from spectralnlp_sketch.labelled import Example
from spectralnlp_sketch.rows import Rows
from spectralnlp_sketch.sent.intents import IntentModel, Ints

# Number of columns that the first word of a query is hashed to, and also the second.
POSITION_COLUMNS = 2**14


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
        width = n_features + self._n_more()
        super().__init__(sketch_size, width, dtype="float32", sparse=True, buffer_rows=buffer_rows, seed=seed)

    def _n_more(self) -> int:
        """Return the number of columns that follow those of n-grams."""
        return 0

    def observe(self, batch: Batch[Any]) -> None:
        """Add the n-gram counts of a batch of texts to the sketch.

        Raises:
            TextError: an example is not a text.
        """
        self.observe_rows(count_ngrams(list(batch.mapped(checked_text)), self.format))

    def observe_rows(self, rows: sp.csr_array) -> None:
        """Add rows of X (n, columns) to the sketch."""
        super().observe(Batch(Rows(rows), "texts", 0, 0))


class LabelledQueries(TextLog):
    """Store of the labelled queries among the training texts, in the order of documents and rows."""

    pass_name = "labelled texts"

    def observe(self, batch: Batch[Example]) -> None:
        """Add the labelled queries of a batch.

        Raises:
            TextError: a label is not a string, number or Boolean.
        """
        numbered = enumerate(batch, batch.start)
        for labelled, run in groupby(numbered, lambda each: each[1].label is not None):
            if labelled:
                rows, examples = zip(*run, strict=True)
                super().observe(Batch(examples, batch.document, batch.document_index, rows[0]))


class ExtendedDirections(NgramDirections):
    """Sketch of the extended counts of SENT+, one row for each unlabelled query; labelled ones are left out.

    Args:
        sketch_size: number of rows of the sketch, l.
        n_features: number of columns that n-grams are hashed to, a power of two.
        words: numbers of words of the shortest and the longest n-grams.
        columns: `IntentModel.columns` of the model that predicts the intents of queries.
        weights: `IntentModel.weights`.
        biases: `IntentModel.biases`.
        seed: seed of the sketch.
    """

    def __init__(
        self,
        sketch_size: int,
        n_features: int,
        words: tuple[int, int],
        columns: NDArray[np.int32],
        weights: NDArray[np.float32],
        biases: NDArray[np.float32],
        seed: int = 0,
    ) -> None:
        self.columns, self.weights, self.biases = columns, weights, biases
        super().__init__(sketch_size, n_features, words, seed=seed)

    def _n_more(self) -> int:
        return 2 * POSITION_COLUMNS + len(self.biases)

    def observe(self, batch: Batch[Example]) -> None:
        """Add the extended counts of the unlabelled queries of a batch to the sketch."""
        texts = [text for text, label in batch if label is None]
        counts = count_ngrams(texts, self.format)
        model = IntentModel(self.columns, self.weights, self.biases)
        self.observe_rows(extended(texts, counts, model.predict(counts), len(self.biases)))


def extended(texts: Sequence[str], counts: sp.csr_array, intents: Ints, n_intents: int) -> sp.csr_array:
    """Return the extended counts of queries: n-grams, first word, second word, and intent as a unit vector.

    Args:
        texts: the queries.
        counts: their n-gram counts (n, columns).
        intents: numbers of their predicted intents (n,).
        n_intents: number of intents.
    """
    lines = [line.split(maxsplit=2) for line in spaced_words(texts)]
    form = NgramFormat((1, 1), None, POSITION_COLUMNS)
    places = [count_ngrams([" ".join(line[at : at + 1]) for line in lines], form) for at in (0, 1)]
    ones, rows = np.ones(len(texts), np.float32), np.arange(len(texts) + 1)
    one_hot = sp.csr_array((ones, intents, rows), shape=(len(texts), n_intents))
    return sp.csr_array(sp.hstack([counts, *places, one_hot], format="csr"))
