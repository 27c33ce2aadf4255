"""Scores of predicted sequences: perplexity and accuracy of the next symbol."""

from __future__ import annotations

import math
from dataclasses import dataclass

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.scoring.table import two_columns


@dataclass(frozen=True, repr=False)
class SequenceReport(Report):
    """Evaluation results of next-symbol predictions on a corpus of sequences.

    Args:
        log_likelihood: natural log probability of all symbols, each given those before it in its sequence;
            ends of sequences are not predicted.
        n_correct: number of symbols that the model predicted as the most probable.
        n_symbols: number of symbols scored.
        n_unknown: number of these that are not in the vocabulary; they are treated as one unknown symbol.
        n_sequences: number of sequences scored.
        vocabulary: number of symbols in the model's vocabulary, the unknown symbol included.
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
        """Perplexity per symbol, without ends of sequences; infinite if a symbol had probability 0."""
        nats = -self.log_likelihood / max(self.n_symbols, 1)
        return math.exp(nats) if nats < 700.0 else math.inf

    @property
    def accuracy(self) -> float:
        """Percentage of symbols that the model predicted as the most probable."""
        return 100.0 * self.n_correct / max(self.n_symbols, 1)

    @property
    def symbols_per_second(self) -> float:
        """Number of symbols predicted per second."""
        return self.n_symbols / max(self.seconds, 1e-9)

    @property
    def signature(self) -> str:
        """A string that names the metric and its settings; compare only scores with equal signatures."""
        return f"PERPLEXITY|per:symbol|ends:none|vocabulary:{self.vocabulary}|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return perplexity, accuracy in percent, counts and the signature, by name."""
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
        """Return the scores as a text table."""
        rows = [
            ("perplexity", f"{self.perplexity:.2f}"),
            ("accuracy", f"{self.accuracy:.2f}"),
            ("symbols", f"{self.n_symbols}"),
            ("  unknown", f"{self.n_unknown}"),
            ("sequences", f"{self.n_sequences}"),
            ("symbols/s", f"{self.symbols_per_second:.0f}"),
        ]
        return two_columns(rows, self.signature)
