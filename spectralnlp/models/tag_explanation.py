"""Explanations of a tagger's tags: features for and against a tag, and training sentences behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.inference.chains.linear_chains import tag_marginals
from spectralnlp.inference.evidence import Feature


@dataclass(frozen=True, kw_only=True)
class SentenceEvidence:
    """The influence of a training sentence on a tag.

    Attributes:
        influence: contribution of the sentence to the log-odds (natural logarithm) of the tag against the
            most probable other tag; negative if the sentence supports the other tag.
        document: number of the document, from 1.
        sentence: number of the sentence in the document, from 1.
        words, tags: words and tags of the sentence in the training data.
        token: index of the word in the sentence that contributed most, from 0.
    """

    influence: float
    document: int
    sentence: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    token: int

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as JSON values."""
        return {
            "influence": round(self.influence, 6),
            "document": self.document,
            "sentence": self.sentence,
            "words": list(self.words),
            "tags": list(self.tags),
            "token": self.token,
        }

    def to_text(self) -> str:
        """Return a line with influence, document, sentence and words; the strongest word is in brackets."""
        words = list(self.words)
        words[self.token] = f"[{self.tags[self.token]} {words[self.token]}]"
        return f"  {self.influence:+.4f}  document {self.document}:{self.sentence}  {' '.join(words)}"


@dataclass(frozen=True, kw_only=True)
class TagExplanation:
    """An explanation of why a word has a tag and not the most probable other tag.

    Attributes:
        token: index of the word, from 0.
        word: the word form that the tagger sees.
        tag: the explained tag, in the tagger's internal scheme (BIOES for spans).
        alternative: the most probable other tag.
        log_odds: natural logarithm of p(tag) / p(alternative); the sum of ``of_features``, ``before`` and
            ``after``.
        of_features: contribution of the features of the word and its neighbours.
        before, after: contributions of the tags of the words before and after.
        features_in_favour, features_against: the features that contribute most, the largest first.
        in_favour, against: the training sentences that support the tag and the alternative most, the largest
            influence first; empty if no examples were kept.

    Examples:
        >>> import spectralnlp
        >>> tagged = spectralnlp.load("en-tagger").tag_tokens(["Gulls", "are", "noisy", "."])
        >>> explained = tagged.explain(2)
        >>> explained.tag, explained.alternative
        ('JJ', 'RB')
        >>> parts = explained.of_features + explained.before + explained.after
        >>> abs(parts - explained.log_odds) < 1e-6
        True
    """

    token: int
    word: str
    tag: str
    alternative: str
    log_odds: float
    of_features: float
    before: float
    after: float
    features_in_favour: tuple[Feature, ...]
    features_against: tuple[Feature, ...]
    in_favour: tuple[SentenceEvidence, ...] = ()
    against: tuple[SentenceEvidence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the explanation as JSON values."""
        return {
            "token": self.token,
            "word": self.word,
            "tag": self.tag,
            "alternative": self.alternative,
            "log_odds": round(self.log_odds, 6),
            "of_features": round(self.of_features, 6),
            "before": round(self.before, 6),
            "after": round(self.after, 6),
            "features_in_favour": [[each.text, round(each.weight, 4)] for each in self.features_in_favour],
            "features_against": [[each.text, round(each.weight, 4)] for each in self.features_against],
            "in_favour": [each.to_json() for each in self.in_favour],
            "against": [each.to_json() for each in self.against],
        }

    def to_text(self) -> str:
        """Return the explanation as lines of readable text."""
        lines = [
            f"{self.tag} for token {self.token}, “{self.word}”, against {self.alternative}: log-odds "
            f"{self.log_odds:+.3f}",
            f"  {self.of_features:+.3f}  all features",
            f"  {self.before:+.3f}  tags before",
            f"  {self.after:+.3f}  tags after",
        ]
        for heading, features in (
            ("features in favour", self.features_in_favour),
            ("features against", self.features_against),
        ):
            lines.append(f"{heading}:{'' if features else ' none'}")
            lines += [f"  {each.weight:+.3f}  {each.text}" for each in features]
        for heading, sentences in (
            ("training sentences in favour", self.in_favour),
            ("training sentences against", self.against),
        ):
            if sentences:
                lines += [f"{heading}:", *(each.to_text() for each in sentences)]
        return "\n".join(lines)


def other_tag(
    emissions: NDArray[np.float32],
    chain: Sequence[NDArray[np.float32]],
    token: int,
    tag: int,
) -> tuple[int, float, float]:
    """Find the most probable other tag of a token, and the effect of the surrounding tags.

    Args:
        emissions: float32 (n_words, n_tags); emission scores divided by the temperature.
        chain: transition, start and end scores of the chain, divided by the temperature too.
        token, tag: index of the token, and id of the explained tag.

    Returns:
        The id of the alternative tag; and the contributions of the tags before, and of the tags after,
        to the log-odds of ``tag`` against it.

    Raises:
        InputError: no tag sequence has ``tag`` at the token, or none has another tag.
    """
    transitions, start, end = chain
    neutral = emissions.copy()
    neutral[token] = 0.0
    nothing = np.zeros_like(start)
    n = len(emissions)
    with np.errstate(divide="ignore"):
        p, _ = tag_marginals(emissions, np.array([0, n]), transitions, start, end)
        before, _ = tag_marginals(neutral[: token + 1], np.array([0, token + 1]), transitions, start, nothing)
        after, _ = tag_marginals(neutral[token:], np.array([0, n - token]), transitions, nothing, end)
        left, right = np.log(before[-1]), np.log(after[0])
    other = p[token].copy()
    other[tag] = -1.0
    alternative = int(other.argmax())
    for number, which in ((tag, "the tag"), (alternative, "another tag")):
        if not (np.isfinite(left[number]) and np.isfinite(right[number])) or tag == alternative:
            what = f"no sequence of tags has {which} at token {token}: there is nothing to compare"
            raise InputError(what, hint="ask about a tag that the word may but need not have")
    return alternative, left[tag] - left[alternative], right[tag] - right[alternative]
