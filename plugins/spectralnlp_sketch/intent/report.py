"""Evaluation report of a classifier: accuracy, F1 of labels, calibration and confusions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spectralnlp import __version__
from spectralnlp.display import Report

N_CONFUSIONS = 10
N_BINS = 10
PERCENTAGES = ("accuracy", "macro_f1", "calibration_error")


@dataclass(frozen=True, repr=False)
class IntentReport(Report):
    """Gold labels, predicted labels and confidences of texts, with the scores computed from them.

    Args:
        gold: gold label of each text.
        predicted: predicted label of each text.
        confidence: probability of each predicted label (n,).
        seconds: time that classification took.
    """

    gold: Sequence[str]
    predicted: Sequence[str]
    confidence: Sequence[float]
    seconds: float

    @property
    def n_correct(self) -> int:
        """Number of texts whose predicted label is right."""
        return sum(gold == predicted for gold, predicted in zip(self.gold, self.predicted, strict=True))

    @property
    def accuracy(self) -> float:
        """Percentage of texts whose predicted label is right."""
        return 100.0 * self.n_correct / max(len(self.gold), 1)

    @property
    def macro_f1(self) -> float:
        """Mean F1, in percent, over all labels that are gold or predicted for a text."""
        right = Counter(g for g, p in zip(self.gold, self.predicted, strict=True) if g == p)
        in_gold, predicted = Counter(self.gold), Counter(self.predicted)
        labels = in_gold.keys() | predicted.keys()
        f1 = [2 * right[label] / (in_gold[label] + predicted[label]) for label in sorted(labels)]
        return 100.0 * float(np.mean(f1)) if f1 else 0.0

    @property
    def calibration_error(self) -> float:
        """Expected calibration error, in percent, with ten bins of confidence (Naeini 2015)."""
        confidence = np.array(self.confidence)
        right = np.array([g == p for g, p in zip(self.gold, self.predicted, strict=True)], float)
        place = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
        gaps = [abs((right - confidence)[place == each].sum()) for each in range(N_BINS)]
        return 100.0 * float(sum(gaps)) / max(len(right), 1)

    def confusions(self, n: int | None = None) -> list[tuple[str, str, int]]:
        """Return (gold label, predicted label, count) of errors, the most frequent first.

        Args:
            n: maximum number of pairs of labels; None for all.
        """
        pairs = Counter((g, p) for g, p in zip(self.gold, self.predicted, strict=True) if g != p)
        ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
        return [(gold, predicted, count) for (gold, predicted), count in ranked[:n]]

    @property
    def signature(self) -> str:
        """Signature of the scores: a string that says how they were computed."""
        return f"INTENTS|f1:macro over labels right or found|calibration:{N_BINS} bins|v:{__version__}"

    def to_flat_dict(self) -> dict[str, Any]:
        """Return scores in percent, counts, speed, signature, and the most frequent ``confusions``."""
        return {
            "accuracy": self.accuracy,
            "macro_f1": self.macro_f1,
            "calibration_error": self.calibration_error,
            "texts": len(self.gold),
            "labels": len(set(self.gold)),
            "confusions": [
                {"gold": gold, "predicted": predicted, "count": count}
                for gold, predicted, count in self.confusions(N_CONFUSIONS)
            ],
            "texts_per_second": len(self.gold) / max(self.seconds, 1e-9),
            "signature": self.signature,
        }

    def to_table(self) -> str:
        """Return the scores as a plain-text table."""
        values = self.to_flat_dict()
        rows = [
            *((key.replace("f1", "F1").replace("_", " "), f"{values[key]:.2f}") for key in PERCENTAGES),
            *((key, f"{values[key]}") for key in ("texts", "labels")),
            ("texts/s", f"{values['texts_per_second']:.0f}"),
        ]
        lines = [f"{name:<18}{value:>10}" for name, value in rows]
        lines += [
            f"  {count:>4} × {gold} taken for {found}" for gold, found, count in self.confusions(N_CONFUSIONS)
        ]
        return "\n".join([*lines, self.signature])
