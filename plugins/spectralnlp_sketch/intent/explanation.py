"""Why a text has its label: what each of its n-grams adds to the label's score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spectralnlp_sketch.hashing.ngrams import NgramFormat
from spectralnlp_sketch.hashing.occurrences import Occurrence, normalised, occurrences

# From how often each column of n-grams is in a text: what each known one adds to a label's score beside the
# mean of all labels, and what the label has without.
ColumnScores = Callable[[Mapping[int, int]], tuple[dict[int, float], float]]


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
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv")
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


def explain(
    text: str, form: NgramFormat, label: str, confidence: float, score_columns: ColumnScores
) -> Explanation:
    """Share the score of a label out among the n-grams and the words of a text.

    Args:
        text: any text.
        form: how it is cut into n-grams.
        label: what is explained.
        confidence: the label's probability.
        score_columns: scores the n-grams for the label.
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
        confidence=confidence,
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
