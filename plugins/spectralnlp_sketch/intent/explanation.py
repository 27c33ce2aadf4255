"""Explain the label of a text by the contributions of n-grams, words and training texts to its score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spectralnlp.display import one_line
from spectralnlp_sketch.hashing.ngrams import NgramFormat
from spectralnlp_sketch.hashing.occurrences import Occurrence, normalised, occurrences

# Maps the counts of a text's n-gram columns to the contribution of each known column to a label's log-odds,
# and the label's bias.
ColumnScores = Callable[[Mapping[int, int]], tuple[dict[int, float], float]]


class Contribution(NamedTuple):
    """Contribution of an n-gram or a word to a label's log-odds.

    Args:
        text: the n-gram or word; blanks at the ends of an n-gram of characters mark word boundaries.
        score: the contribution, a natural logarithm.
    """

    text: str
    score: float


class TextEvidence(NamedTuple):
    """Contribution of a training text to a label's log-odds.

    Args:
        influence: the contribution, a natural logarithm; negative if the text supports the likeliest other
            label.
        document: number of the document (training file) that contains the text, counted from 1.
        example: number of the text in the document, counted from 1.
        text, label: the training text and its label.
    """

    influence: float
    document: int
    example: int
    text: str
    label: str

    def to_text(self) -> str:
        """Return a line of output with influence, position, label and text."""
        return f"  {self.influence:+.4f}  document {self.document}:{self.example}  [{self.label}] {self.text}"


@dataclass(frozen=True)
class Explanation:
    """Explanation of why a text has a label and not the likeliest other label.

    Attributes:
        label: the label to explain.
        alternative: the likeliest other label.
        confidence: probability of the label.
        log_odds: natural logarithm of p(label) / p(alternative); the sum of ``bias`` and the scores of
            ``ngrams``, or of ``bias`` and the scores of ``words``.
        bias: log-odds of the label for an empty text.
        words: contribution of each word in text order; the contribution of an n-gram is divided equally among
            the words that it overlaps, or among all words if it overlaps none.
        ngrams: contributions of n-grams, the largest magnitude first.
        in_favour, against: training texts that raise or lower the log-odds most, the strongest first; empty
            if examples were not kept.

    Examples:
        >>> import spectralnlp
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv")
        >>> explained = classifier.explain("how much is a ticket")
        >>> max(explained.words, key=lambda word: word.score).text
        'much'
    """

    label: str
    alternative: str
    confidence: float
    log_odds: float
    bias: float
    words: tuple[Contribution, ...]
    ngrams: tuple[Contribution, ...]
    in_favour: tuple[TextEvidence, ...] = ()
    against: tuple[TextEvidence, ...] = ()

    __repr__ = one_line

    def to_json(self, n: int = 20) -> dict[str, Any]:
        """Return the explanation as JSON values, with the ``n`` n-grams of largest magnitude."""
        return {
            "label": self.label,
            "alternative": self.alternative,
            "confidence": round(self.confidence, 6),
            "log_odds": round(self.log_odds, 4),
            "bias": round(self.bias, 4),
            "words": [[each.text, round(each.score, 4)] for each in self.words],
            "ngrams": [[each.text, round(each.score, 4)] for each in self.ngrams[:n]],
            "in_favour": [each._asdict() for each in self.in_favour],
            "against": [each._asdict() for each in self.against],
        }

    def to_text(self) -> str:
        """Return the explanation as several lines of text."""
        lines = [f"{self.label} against {self.alternative}: log-odds {self.log_odds:+.3f}"]
        lines += [f"  {self.bias:+.3f}  without a text", "words:"]
        lines += [f"  {each.score:+.3f}  {each.text}" for each in self.words]
        for heading, texts in (
            ("training texts in favour", self.in_favour),
            ("training texts against", self.against),
        ):
            if texts:
                lines += [f"{heading}:", *(each.to_text() for each in texts)]
        return "\n".join(lines)


def explain(
    text: str, form: NgramFormat, label: str, alternative: str, confidence: float, score_columns: ColumnScores
) -> Explanation:
    """Distribute the log-odds of a label among the n-grams and the words of a text.

    Args:
        text: text whose label is explained.
        form: format in which n-grams are counted.
        label, alternative: the label to explain, and the likeliest other label.
        confidence: probability of the label.
        score_columns: function that takes a count for each hashed column of the text. It returns the
            contribution of each known column to the log-odds, and the log-odds of an empty text.

    Returns:
        The explanation, without training texts.
    """
    characters = normalised(text, form)
    places: defaultdict[int, list[Occurrence]] = defaultdict(list)
    for each in occurrences(characters, form):
        places[each.column].append(each)
    scores, bias = score_columns({column: len(each) for column, each in places.items()})
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
        alternative=alternative,
        confidence=confidence,
        log_odds=bias + sum(of_ngrams.values()),
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
