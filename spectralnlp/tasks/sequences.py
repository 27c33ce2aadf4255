"""The sequence task: train and evaluate models that predict the next symbol, on one sequence per line."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.inference.chains.filtering import run_sequences
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models.sequence_model import SequenceModel
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import Corpus, MappedCorpus
from spectralnlp.scoring.sequences import SequenceReport
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.lines import LineTask


class SequenceTask(LineTask):
    """Task of sequence models, which give likelihoods of sequences of symbols and predict next symbols."""

    name = "sequences"
    training_data = "{training symbols:,} symbols in {training sequences:,} sequences"
    default_card = """# A model of sequences

The parameters and the symbols come from the training sequences: their licence applies."""

    @staticmethod
    def words_of(line: str) -> list[str]:
        """Split a line into its blank-separated symbols."""
        return line.split()

    def wrap(self, fitted: Any) -> SequenceModel:
        """Wrap a fitted sequence estimator as a model."""
        return SequenceModel(fitted.filter_)

    def training_counts(self, fitted: Any) -> dict[str, Any]:
        """Return the numbers of training sequences and symbols, and the singular values, for reports."""
        counts: dict[str, Any] = {
            "training sequences": fitted.n_sequences_,
            "training symbols": fitted.n_symbols_,
        }
        if hasattr(fitted, "spectrum_"):
            return {**counts, "singular values": fitted.spectrum_.rounded()}
        return counts

    def evaluate(self, model: SequenceModel, corpus: Corpus[Sequence[str]]) -> SequenceReport:
        """Compute perplexity and the accuracy of next-symbol prediction.

        Raises:
            InputError: there are no symbols.
        """
        sequences = list(MappedCorpus(corpus, model.encode))
        n_symbols = sum(map(len, sequences))
        if not n_symbols:
            raise InputError("no symbols to evaluate on", hint="give a file of blank-separated symbols")
        log_likelihood, n_correct = 0.0, 0

        def visit(which: NDArray[np.int64], _: int, p: Floats, __: Floats, symbols: Ints) -> None:
            nonlocal log_likelihood, n_correct
            log_likelihood += float(np.log(p[np.arange(len(which)), symbols]).sum())
            n_correct += int((p.argmax(axis=1) == symbols).sum())

        started = perf_counter()
        with one_blas_thread(), np.errstate(divide="ignore"):
            run_sequences(model.filter, sequences, visit)
        unknown = len(model.symbols) - 1
        n_unknown = sum(int((sequence == unknown).sum()) for sequence in sequences)
        seconds = perf_counter() - started
        return SequenceReport(
            log_likelihood, n_correct, n_symbols, n_unknown, len(sequences), len(model.symbols), seconds
        )

    def load(self, stored: StoredModel) -> SequenceModel:
        """Return the model that a folder holds."""
        return SequenceModel.from_stored(stored)
