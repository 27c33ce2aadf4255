"""Explain the tags of a tagger by its training sentences, for `Tagger.explain`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.inference.chains.token_features import VECTORS, FeatureKeys, TokenFeatures
from spectralnlp.models.tag_explanation import SentenceEvidence
from spectralnlp.runtime import ExampleLog, symbol_names
from spectralnlp.text.conll import TaggedSentence
from spectralnlp.text.spans import spans_of, write_spans


@dataclass(frozen=True)
class LearnedSentences:
    """The training sentences of a tagger, with the features and tags of their tokens.

    Attributes:
        sentences: words and tags of each sentence; if the tagger predicts spans, the tags are in the scheme
            that it was trained on (BIOES).
        places: int64 (n_sentences, 2); index of each sentence's document, and index within the document.
        keys: feature keys of all tokens.
        tags: int64 (n_tokens,); id of each token's tag, -1 for tags that the tagger does not have.
    """

    sentences: Sequence[TaggedSentence]
    places: NDArray[np.int64]
    keys: FeatureKeys
    tags: NDArray[np.int64]

    @classmethod
    def of(cls, tagger: Any) -> LearnedSentences | None:
        """Return the kept training sentences of a tagger, or None if there are none."""
        found = tagger.kept_if_any()
        log = None if found is None else found.moments.first_replay_log()
        if not isinstance(log, ExampleLog):
            return None
        kept = list(log.corpus())
        is_sentence = np.array([len(words) > 0 for words, _ in kept], bool)
        sentences = [each for each in kept if each[0]]
        if tagger.scheme != "tags":  # encoded as in training
            sentences = [
                (words, tuple(write_spans(spans_of(tags), len(tags), "bioes"))) for words, tags in sentences
            ]
        number = {tag: i for i, tag in enumerate(tagger.weights.tags)}
        return cls(
            sentences,
            log.arrays()["places"][is_sentence, :2].astype(np.int64),
            FeatureKeys(tagger.features, [words for words, _ in sentences]),
            np.array([number.get(tag, -1) for _, tags in sentences for tag in symbol_names(tags)], np.int64),
        )

    def evidence(
        self, features: TokenFeatures, weights: NDArray[np.float64], tag: int, alternative: int, limit: int
    ) -> tuple[tuple[SentenceEvidence, ...], tuple[SentenceEvidence, ...]]:
        """Return the training sentences that speak most for a token's tag, and most against it.

        Args:
            features: features of the token.
            weights: float64 (n_features,); contribution of each feature to the log-odds of ``tag`` against
                ``alternative``.
            tag, alternative: ids of the predicted tag and of the tag to compare it with.
            limit: maximum number of sentences in each of the two results.
        """
        of_token = self.shares(features, weights, tag, alternative)
        starts = self.keys.encoded.starts
        of_sentence = np.add.reduceat(of_token, starts[:-1])
        order = np.argsort(-of_sentence, kind="stable")
        in_favour = [each for each in order[:limit].tolist() if of_sentence[each] > 0]
        against = [each for each in order[::-1][:limit].tolist() if of_sentence[each] < 0]

        def named(sentence: int) -> SentenceEvidence:
            values, sign = of_token[starts[sentence] : starts[sentence + 1]], np.sign(of_sentence[sentence])
            words, tags = self.sentences[sentence]
            document, row = self.places[sentence].tolist()
            return SentenceEvidence(
                influence=float(of_sentence[sentence]),
                document=document + 1,
                sentence=row + 1,
                words=tuple(words),
                tags=tuple(tags),
                token=int(np.argmax(values * sign)),
            )

        return tuple(map(named, in_favour)), tuple(map(named, against))

    def shares(
        self, features: TokenFeatures, weights: NDArray[np.float64], tag: int, alternative: int
    ) -> NDArray[np.float64]:
        """Distribute the contributions of a token's features over the training tokens, float64 (n_tokens,).

        A positive contribution is divided equally among the training tokens that have the feature and the
        tag ``tag``, a negative one among those that have the feature and the tag ``alternative``. The
        arguments are those of `evidence`.
        """
        found = np.zeros(len(self.tags))
        in_favour, against = self.tags == tag, self.tags == alternative
        places = zip(features.slots.tolist(), features.columns.tolist(), features.keys, strict=True)
        for (slot, column, key), weight in zip(places, weights.tolist(), strict=True):
            if slot == VECTORS or weight == 0.0:
                continue
            taught = np.flatnonzero(
                self.keys.having(slot, column, key) & (in_favour if weight > 0 else against)
            )
            if len(taught):
                found[taught] += weight / len(taught)
        return found
