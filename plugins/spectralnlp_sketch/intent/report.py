"""How well a classifier does: accuracy, F1 of labels, what is taken for what."""

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
    """Gold labels, predicted labels and confidences, text by text.

    Args:
        gold: the right labels.
        predicted: the labels found.
        confidence: float (n,); their probabilities.
        seconds: time that classification took.
    """

    gold: Sequence[str]
    predicted: Sequence[str]
    confidence: Sequence[float]
    seconds: float

    @property
    def n_correct(self) -> int:
        """Texts whose label is right."""
        return sum(right == found for right, found in zip(self.gold, self.predicted, strict=True))

    @property
    def accuracy(self) -> float:
        """Percent of texts whose label is right."""
        return 100.0 * self.n_correct / max(len(self.gold), 1)

    @property
    def macro_f1(self) -> float:
        """Mean F1, in percent, of the labels that are right or found anywhere."""
        right = Counter(g for g, p in zip(self.gold, self.predicted, strict=True) if g == p)
        in_gold, found = Counter(self.gold), Counter(self.predicted)
        labels = in_gold.keys() | found.keys()
        f1 = [2 * right[label] / (in_gold[label] + found[label]) for label in sorted(labels)]
        return 100.0 * float(np.mean(f1)) if f1 else 0.0

    @property
    def calibration_error(self) -> float:
        """Mean difference, in percent, of confidence and accuracy in ten bins of confidence (Naeini 2015)."""
        confidence = np.array(self.confidence)
        right = np.array([g == p for g, p in zip(self.gold, self.predicted, strict=True)], float)
        place = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
        gaps = [abs((right - confidence)[place == each].sum()) for each in range(N_BINS)]
        return 100.0 * float(sum(gaps)) / max(len(right), 1)

    def confusions(self, n: int | None = None) -> list[tuple[str, str, int]]:
        """(right label, label found, how often), the commonest mistakes first."""
        pairs = Counter((g, p) for g, p in zip(self.gold, self.predicted, strict=True) if g != p)
        ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
        return [(gold, predicted, count) for (gold, predicted), count in ranked[:n]]

    @property
    def signature(self) -> str:
        """How the scores were counted."""
        return f"INTENTS|f1:macro over labels right or found|calibration:{N_BINS} bins|v:{__version__}"

    def to_flat_dict(self) -> dict[str, Any]:
        """Percentages, what they were counted on, and how; ``confusions``: the commonest mistakes."""
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
        """The scores as a table for readers."""
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
