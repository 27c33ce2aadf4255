"""Scores of taggers: accuracy, accuracy on unknown words, and F1 of spans, as conlleval counts them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spectralnlp import __version__
from spectralnlp.display import Report
from spectralnlp.errors import InputError
from spectralnlp.scoring.evalb import percent
from spectralnlp.scoring.significance import Comparison, compare_ratios
from spectralnlp.scoring.table import two_columns
from spectralnlp.text.spans import Scheme, count_invalid, spans_of

Counts = NDArray[np.int64]
_COLUMNS = ("words", "correct", "unknown", "unknown_correct", "gold", "predicted", "matched")


@dataclass(frozen=True, repr=False)
class TagReport(Report):
    """Evaluation results of a tagger: counts of each sentence.

    Attributes:
        counts: int64 (n_sentences, 7); numbers of words, correctly tagged words, unknown words, correctly
            tagged unknown words, gold spans, predicted spans and correct predicted spans.
        scheme: how tags encode spans; ``tags`` if they do not.
        new_tags: gold tags that the model cannot predict, and how often each occurs.
        invalid: number of gold tags that cannot follow the tag before them in the encoding of spans; such a
            tag is read as the start of a span.
        seconds: time that tagging took.
    """

    counts: Counts
    scheme: Scheme
    new_tags: dict[str, int]
    invalid: int
    seconds: float | None = None

    def _total(self, name: str) -> int:
        return int(self.counts[:, _COLUMNS.index(name)].sum())

    @property
    def accuracy(self) -> float:
        """Percentage of words that are correctly tagged."""
        return percent(self._total("correct"), self._total("words"))

    @property
    def accuracy_unknown(self) -> float:
        """Percentage of words outside the training data that are correctly tagged."""
        return percent(self._total("unknown_correct"), self._total("unknown"))

    @property
    def precision(self) -> float:
        """Percentage of predicted spans that are correct."""
        return percent(self._total("matched"), self._total("predicted"))

    @property
    def recall(self) -> float:
        """Percentage of gold spans that were predicted."""
        return percent(self._total("matched"), self._total("gold"))

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall of spans, in percent."""
        return percent(2 * self._total("matched"), self._total("gold") + self._total("predicted"))

    @property
    def signature(self) -> str:
        """A string that names the metric and its settings; compare only scores with equal signatures."""
        spans = "" if self.scheme == "tags" else f"|spans:conlleval|scheme:{self.scheme}"
        return f"TAGS{spans}|unknown:not-in-train|v:{__version__}"

    def to_flat_dict(self) -> dict[str, float | int | str]:
        """Return scores in percent and counts, by name; scores of spans only if the tags encode spans."""
        flat: dict[str, float | int | str] = {
            "accuracy": self.accuracy,
            "accuracy_unknown": self.accuracy_unknown,
        }
        if self.scheme != "tags":
            flat |= {"precision": self.precision, "recall": self.recall, "f1": self.f1}
            flat |= {"spans": self._total("gold"), "invalid": self.invalid}
        flat |= {
            "words": self._total("words"),
            "unknown": self._total("unknown"),
            "sentences": len(self.counts),
            "new_tags": sum(self.new_tags.values()),
            "signature": self.signature,
        }
        if self.seconds:
            flat["words_per_second"] = self._total("words") / self.seconds
        return flat

    def to_table(self) -> str:
        """Return the scores as a text table."""
        rows = [
            ("accuracy", f"{self.accuracy:.2f}"),
            (f"  of {self._total('unknown'):,} unknown words", f"{self.accuracy_unknown:.2f}"),
        ]
        if self.scheme != "tags":
            rows += [
                ("precision", f"{self.precision:.2f}"),
                ("recall", f"{self.recall:.2f}"),
                ("F1", f"{self.f1:.2f}"),
                ("spans", f"{self._total('gold'):,}"),
            ]
        rows += [("words", f"{self._total('words'):,}"), ("sentences", f"{len(self.counts):,}")]
        if self.seconds:
            rows.append(("words/s", f"{self._total('words') / self.seconds:,.0f}"))
        if self.new_tags:
            names = ", ".join(f"{tag} ({n})" for tag, n in list(self.new_tags.items())[:8])
            rows.append(("tags never learned", names))
        if self.invalid:
            rows.append(("invalid gold tags", f"{self.invalid}, read as the start of a span"))
        return two_columns(rows, self.signature, name_width=26, value_width=9)


def score_tags(
    gold: Sequence[tuple[Sequence[str], Sequence[str]]],
    predicted: Iterable[Sequence[str]],
    *,
    known: Container[str],
    labels: Container[str],
    scheme: Scheme,
    seconds: float | None = None,
) -> TagReport:
    """Compare predicted tags with gold tags, sentence by sentence.

    Args:
        gold: words and gold tags of each sentence.
        predicted: predicted tags of each sentence.
        known: words of the training data; all other words are counted as unknown.
        labels: tags that the model can predict.
        scheme: how tags encode spans.
        seconds: time that tagging took.

    Raises:
        InputError: there are no words.
    """
    rows, new_tags, invalid = [], dict[str, int](), 0
    for (words, tags), ours in zip(gold, predicted, strict=True):
        right = [a == b for a, b in zip(tags, ours, strict=True)]
        unknown = [word not in known for word in words]
        both = sum(a and b for a, b in zip(right, unknown, strict=True))
        spans, our_spans = _span_sets(tags, ours, scheme)
        counts = (len(words), sum(right), sum(unknown), both)
        rows.append((*counts, len(spans), len(our_spans), len(spans & our_spans)))
        invalid += count_invalid(tags, scheme)
        for tag in tags:
            if tag not in labels:
                new_tags[tag] = new_tags.get(tag, 0) + 1
    if not sum(row[0] for row in rows):
        raise InputError("no words to evaluate on")
    return TagReport(
        counts=np.array(rows, np.int64), scheme=scheme, new_tags=new_tags, invalid=invalid, seconds=seconds
    )


def _span_sets(
    gold: Sequence[str], predicted: Sequence[str], scheme: Scheme
) -> tuple[set[tuple[int, int, str]], set[tuple[int, int, str]]]:
    if scheme == "tags":
        return set(), set()
    return set(spans_of(gold)), set(spans_of(predicted))


def compare_tags(report: TagReport, other: TagReport) -> Comparison:
    """Test whether two reports on the same sentences differ significantly in F1 of spans or in accuracy.

    Accuracy is compared if the tags do not encode spans.

    Raises:
        InputError: the reports are not on the same sentences, or only one of them has spans.
    """
    if not np.array_equal(report.counts[:, 0], other.counts[:, 0]):
        raise InputError("two models can only be compared on the same sentences")
    if (report.scheme == "tags") != (other.scheme == "tags"):
        raise InputError(
            "one model predicts spans, the other does not", hint="compare models of the same tags"
        )
    metric = "accuracy" if report.scheme == "tags" else "f1"
    ours, theirs = (_terms(each, metric) for each in (report, other))
    return compare_ratios(ours, theirs, metric)


def _terms(report: TagReport, metric: str) -> NDArray[np.float64]:
    words, correct, _, _, gold, predicted, matched = report.counts.T.astype(np.float64)
    if metric == "accuracy":
        return np.stack([correct, words], axis=1)
    return np.stack([2 * matched, gold + predicted], axis=1)
