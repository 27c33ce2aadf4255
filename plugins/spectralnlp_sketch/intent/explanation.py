"""Why a text has its label: what each of its n-grams adds to the label's score."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spectralnlp.display import one_line
from spectralnlp_sketch.hashing.ngrams import NgramFormat
from spectralnlp_sketch.hashing.occurrences import Occurrence, normalised, occurrences

# From how often each column of n-grams is in a text: what each known one adds to a label's log-odds, and what
# the label has without.
ColumnScores = Callable[[Mapping[int, int]], tuple[dict[int, float], float]]


class Contribution(NamedTuple):
    """An n-gram, or a word, and what it adds to a label's log-odds.

    Args:
        text: the n-gram, or the word; blanks at the ends of an n-gram of characters are ends of words.
        score: a natural logarithm.
    """

    text: str
    score: float


class TextEvidence(NamedTuple):
    """A training text, and what it adds to a label's log-odds.

    Args:
        influence: a natural logarithm; negative if the text speaks for the alternative.
        document: its number, counted from 1.
        example: its number in the document, counted from 1.
        text, label: as it was learned from.
    """

    influence: float
    document: int
    example: int
    text: str
    label: str

    def to_text(self) -> str:
        """A line: influence, place, label and text."""
        return f"  {self.influence:+.4f}  document {self.document}:{self.example}  [{self.label}] {self.text}"


@dataclass(frozen=True)
class Explanation:
    """Why a text has a label and not the likeliest other one.

    Attributes:
        label: what is explained.
        alternative: the likeliest other label.
        confidence: the label's probability.
        log_odds: natural logarithm of p(label) / p(alternative): ``bias`` and the scores of ``ngrams``, or
            ``bias`` and those of ``words``, add up to it.
        bias: what the label has without a text.
        words: of each word in turn, the shares of all n-grams that it is in.
        ngrams: the largest first, in either direction.
        in_favour, against: the training texts that add most to the log-odds, and that take most away, the
            first one most; none where no examples were kept.

    Examples:
        >>> import spectralnlp
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv")
        >>> explained = classifier.explain("how much is a ticket")
        >>> max(explained.words, key=lambda each: each.score).text
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
        """JSON values, with the ``n`` n-grams that count most."""
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
        """Lines for reading."""
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
    """Share the log-odds of a label out among the n-grams and the words of a text.

    Args:
        text: any text.
        form: how it is cut into n-grams.
        label, alternative: what is explained, and the likeliest other label.
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
