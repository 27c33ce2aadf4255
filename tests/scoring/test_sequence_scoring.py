"""Scores of sequence models."""

from __future__ import annotations

import math

from spectralnlp.scoring.sequences import SequenceReport


def test_perplexity_of_an_impossible_symbol_is_infinite() -> None:
    report = SequenceReport(
        log_likelihood=-1e6, n_correct=0, n_symbols=10, n_unknown=0, n_sequences=1, vocabulary=2, seconds=1.0
    )
    assert report.perplexity == math.inf
    assert "inf" in report.to_table()
