"""The task of predicting sequences of symbols, one a line."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp import __version__
from spectralnlp.errors import InputError
from spectralnlp.inference.chains.filtering import run_sequences
from spectralnlp.linalg import one_blas_thread
from spectralnlp.models.sequence_model import SequenceModel
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import Corpus
from spectralnlp.scoring.sequences import SequenceReport
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.card import model_card
from spectralnlp.tasks.lines import LineTask
from spectralnlp.tasks.task import Say, silent

_UNDESCRIBED = """# A model of sequences

The parameters and the symbols come from the training sequences: their licence applies."""


class SequenceTask(LineTask):
    """Sequences of blank-separated symbols: likelihoods and next symbols."""

    name = "sequences"

    @staticmethod
    def words_of(line: str) -> list[str]:
        """Its symbols, between blanks."""
        return line.split()

    def wrap(self, fitted: Any, *, report: Say = silent, description: str = "") -> SequenceModel:
        """The model of a fitted estimator of sequences."""
        about = {
            "estimator": type(fitted).__name__,
            "parameters": fitted.get_params(),
            "training sequences": fitted.n_sequences_,
            "training symbols": fitted.n_symbols_,
            "spectralnlp": __version__,
        }
        data = f"{about['training symbols']:,} symbols in {about['training sequences']:,} sequences"
        return SequenceModel(fitted.filter_, about, model_card(about, data, description, _UNDESCRIBED))

    def evaluate(self, model: SequenceModel, corpus: Corpus[Sequence[str]]) -> SequenceReport:
        """Perplexity and accuracy of the next symbol.

        Raises:
            InputError: there are no symbols.
        """
        sequences = [model.encode(sequence) for sequence in corpus]
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
        """The model in a folder."""
        return SequenceModel.from_stored(stored)
