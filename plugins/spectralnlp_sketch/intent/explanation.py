"""Why a text has its label: what each of its n-grams adds to the label's score."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp_sketch.hashing.occurrences import Occurrence, normalised, occurrences

if TYPE_CHECKING:
    from spectralnlp_sketch.intent.model import Classifier


class Contribution(NamedTuple):
    """An n-gram, or a word, and what it adds to a label's score.

    Args:
        text: the n-gram, or the word; blanks at the ends of an n-gram of characters are ends of words.
        score: in natural logarithms, beside the mean of all labels.
    """

    text: str
    score: float


@dataclass(frozen=True)
class Explanation:
    """The score of a label for a text, as a sum.

    Attributes:
        label: what is explained.
        confidence: the label's probability.
        score: how far the label is above the mean of all labels, in natural logarithms: ``bias`` and the
            scores of ``ngrams``, or ``bias`` and those of ``words``, add up to it.
        bias: what the label has without a text.
        words: of each word in turn, the shares of all n-grams that it is in.
        ngrams: the largest first, in either direction.

    Examples:
        >>> import spectralnlp
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv", preset="baseline")
        >>> explained = classifier.explain("how much is a ticket")
        >>> max(explained.words, key=lambda each: each.score).text
        'much'
    """

    label: str
    confidence: float
    score: float
    bias: float
    words: tuple[Contribution, ...]
    ngrams: tuple[Contribution, ...]

    def to_json(self, n: int = 20) -> dict[str, Any]:
        """JSON values, with the ``n`` n-grams that count most."""
        return {
            "label": self.label,
            "confidence": round(self.confidence, 6),
            "score": round(self.score, 4),
            "bias": round(self.bias, 4),
            "words": [[each.text, round(each.score, 4)] for each in self.words],
            "ngrams": [[each.text, round(each.score, 4)] for each in self.ngrams[:n]],
        }


def explain(classifier: Classifier, text: str, label: str | None = None) -> Explanation:
    """Explain a label of a text; see `Classifier.explain`."""
    found = classifier.classify(text)
    label = found.label if label is None else label
    if label not in classifier.labels:
        raise ConfigError(f"no label {label!r}", hint=f"there are {', '.join(classifier.labels[:10])} …")
    number = classifier.labels.index(label)
    characters = normalised(text, classifier.form)
    places: defaultdict[int, list[Occurrence]] = defaultdict(list)
    for each in occurrences(characters, classifier.form):
        places[each.column].append(each)
    scores, bias = _column_scores(classifier, places, number)
    of_ngrams: defaultdict[str, float] = defaultdict(float)
    words = characters.words()
    of_words = np.zeros(len(words))
    for column, score in scores.items():
        for each in places[column]:
            share = score / len(places[column])
            of_ngrams[each.text] += share
            covered = [n for n, (first, end) in enumerate(words) if each.overlaps(first, end)]
            of_words[covered or slice(None)] += share / max(len(covered) or len(words), 1)
    return Explanation(
        label=label,
        confidence=float(found.scores[number]),
        score=bias + sum(of_ngrams.values()),
        bias=bias,
        words=tuple(
            Contribution("".join(characters.characters[first:end]), float(score))
            for (first, end), score in zip(words, of_words, strict=True)
        ),
        ngrams=tuple(
            Contribution(piece, float(score))
            for piece, score in sorted(of_ngrams.items(), key=lambda item: (-abs(item[1]), item[0]))
        ),
    )


def _column_scores(
    classifier: Classifier, places: dict[int, list[Occurrence]], label: int
) -> tuple[dict[int, float], float]:
    """What each known column adds to a label's score beside the mean of all, and what the label has without.

    Corrections are not linear in the first layer's scores s, but a squashed score is a multiple of s − m, and
    by these multiples of this text all of it is shared out.
    """
    columns = np.array(sorted(places), np.int64)
    rows = np.searchsorted(classifier.columns, columns)
    known = rows < len(classifier.columns)
    known[known] = classifier.columns[rows[known]] == columns[known]
    columns, rows = columns[known], rows[known]
    counts = np.array([len(places[column]) for column in columns.tolist()], np.float64)
    values = (1 + np.log(counts)) * classifier.idf[rows] if len(rows) else counts
    kinds = classifier.form.kinds(columns)
    for kind in range(3):
        length = np.sqrt((values[kinds == kind] ** 2).sum())
        values[kinds == kind] /= length or 1.0
    table = classifier.table[rows].astype(np.float64) * values[:, None]
    layer, scores = classifier.second_layer, classifier.bias + table.sum(axis=0)
    wanted = np.eye(len(scores))[label] - 1.0 / len(scores)
    corrections = layer.weights @ wanted
    distance = scores[: len(layer.centers)] - layer.centers
    multiples = corrections * np.divide(
        layer.squashed(scores), distance, out=np.zeros_like(distance), where=distance != 0
    )
    wanted[: len(multiples)] += multiples
    wanted *= float(classifier.sharpness)
    bias = float(classifier.bias @ wanted - classifier.sharpness * (multiples @ layer.centers))
    return dict(zip(columns.tolist(), (table @ wanted).tolist(), strict=True)), bias
