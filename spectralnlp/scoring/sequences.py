"""Scores of predicted sequences: perplexity and accuracy of the next symbol."""

from __future__ import annotations

import math
from dataclasses import dataclass

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.scoring.table import two_columns


@dataclass(frozen=True, repr=False)
class SequenceReport(Report):
    """Sums over the symbols of a corpus.

    Args:
        log_likelihood: natural logarithm of the probability of all symbols, each given those before it in its
            sequence; ends of sequences are not predicted.
        n_correct: symbols that were the likeliest.
        n_symbols: symbols scored.
        n_unknown: symbols that the model does not know; they count as one symbol.
        n_sequences: sequences scored.
        vocabulary: symbols that the model tells apart.
        seconds: time that prediction took.
    """

    log_likelihood: float
    n_correct: int
    n_symbols: int
    n_unknown: int
    n_sequences: int
    vocabulary: int
    seconds: float

    @property
    def perplexity(self) -> float:
        """Perplexity per symbol, without ends of sequences; infinite if a symbol was impossible."""
        nats = -self.log_likelihood / max(self.n_symbols, 1)
        return math.exp(nats) if nats < 700.0 else math.inf

    @property
    def accuracy(self) -> float:
        """Percent of symbols that were the likeliest."""
        return 100.0 * self.n_correct / max(self.n_symbols, 1)

    @property
    def symbols_per_second(self) -> float:
        """Symbols read in a second."""
        return self.n_symbols / max(self.seconds, 1e-9)

    @property
    def signature(self) -> str:
        """How the scores were counted."""
        return f"PERPLEXITY|per:symbol|ends:none|vocabulary:{self.vocabulary}|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return perplexity, accuracy in percent, what they were counted on, and how."""
        return {
            "perplexity": self.perplexity,
            "accuracy": self.accuracy,
            "log_likelihood": self.log_likelihood,
            "symbols": self.n_symbols,
            "unknown": self.n_unknown,
            "sequences": self.n_sequences,
            "symbols_per_second": self.symbols_per_second,
            "signature": self.signature,
        }

    def to_table(self) -> str:
        """Return the scores as a table for readers."""
        rows = [
            ("perplexity", f"{self.perplexity:.2f}"),
            ("accuracy", f"{self.accuracy:.2f}"),
            ("symbols", f"{self.n_symbols}"),
            ("  unknown", f"{self.n_unknown}"),
            ("sequences", f"{self.n_sequences}"),
            ("symbols/s", f"{self.symbols_per_second:.0f}"),
        ]
        return two_columns(rows, self.signature)
