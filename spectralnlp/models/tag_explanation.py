"""Why a tag: the features that spoke for it and against it, and the training sentences that taught them."""

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
    """What a training sentence did for a tag.

    Attributes:
        influence: the share of the features' weights that the sentence is given, a natural logarithm;
            negative if it speaks for the alternative.
        document: its number, counted from 1.
        sentence: its number in the document, counted from 1.
        words, tags: as it was learned from.
        token: the word of it that did most.
    """

    influence: float
    document: int
    sentence: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    token: int

    def to_json(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "influence": round(self.influence, 6),
            "document": self.document,
            "sentence": self.sentence,
            "words": list(self.words),
            "tags": list(self.tags),
            "token": self.token,
        }

    def to_text(self) -> str:
        """A line: influence, place, and the words with the one that did most and its tag in brackets."""
        words = list(self.words)
        words[self.token] = f"[{self.tags[self.token]} {words[self.token]}]"
        return f"  {self.influence:+.4f}  document {self.document}:{self.sentence}  {' '.join(words)}"


@dataclass(frozen=True, kw_only=True)
class TagExplanation:
    """Why a word has a tag, and not the likeliest other one.

    Attributes:
        token: the word's number, counted from 0.
        word: as the tagger sees it.
        tag: what is explained, as the tagger writes it inside: of spans in BIOES.
        alternative: the likeliest other tag.
        log_odds: natural logarithm of p(tag) / p(alternative): the sum of the next three.
        of_features: what the features of the word and its neighbours add to it.
        before, after: what the tags of the words before and after add to it.
        features_in_favour, features_against: the features that add most, the largest first.
        in_favour, against: the training sentences that speak for the tag and for the alternative, the first
            one most; none where no examples were kept.

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
        """JSON values."""
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
        """Lines for reading."""
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
    """Find the likeliest other tag of a token, and what the tags of other words say of it.

    Args:
        emissions: float32 (n_words, n_tags); scores, divided by the temperature.
        chain: transitions, start and end of the chain, divided by it too.
        token, tag: what is explained.

    Returns:
        The number of the alternative; what tags before, and tags after, add to the tag's log-odds.

    Raises:
        InputError: the tag cannot stand there, or no other can.
    """
    transitions, start, end = chain
    alone = emissions.copy()
    alone[token] = 0.0
    nothing = np.zeros_like(start)
    n = len(emissions)
    with np.errstate(divide="ignore"):
        p, _ = tag_marginals(emissions, np.array([0, n]), transitions, start, end)
        before, _ = tag_marginals(alone[: token + 1], np.array([0, token + 1]), transitions, start, nothing)
        after, _ = tag_marginals(alone[token:], np.array([0, n - token]), transitions, nothing, end)
        left, right = np.log(before[-1]), np.log(after[0])
    other = p[token].copy()
    other[tag] = -1.0
    alternative = int(other.argmax())
    for number, which in ((tag, "the tag"), (alternative, "another tag")):
        if not (np.isfinite(left[number]) and np.isfinite(right[number])) or tag == alternative:
            what = f"no sequence of tags has {which} at token {token}: there is nothing to compare"
            raise InputError(what, hint="ask about a tag that the word may have or not")
    return alternative, left[tag] - left[alternative], right[tag] - right[alternative]
