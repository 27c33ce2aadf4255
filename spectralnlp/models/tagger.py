"""The linear-chain tagger, the result of ``spectralnlp.train("tagger", …)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError
from spectralnlp.inference.chains.linear_chains import best_tags, tag_marginals
from spectralnlp.inference.chains.scorer import Scorer
from spectralnlp.inference.chains.templates import OFFSETS
from spectralnlp.inference.chains.token_features import token_features
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.evidence import Feature
from spectralnlp.models.changing import ChangingModel
from spectralnlp.models.learned_sentences import LearnedSentences
from spectralnlp.models.tag_explanation import TagExplanation, other_tag
from spectralnlp.models.text_tagger import TextTagger, batches, check_sentences
from spectralnlp.parameters import ChainWeights
from spectralnlp.runtime import symbol_names, symbols_named
from spectralnlp.storage import Arrays, StoredArrays, StoredValues
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.inputs import check_number, sentence_of
from spectralnlp.text.spans import Scheme, spans_of, write_spans
from spectralnlp.text.tokenizer import Tokenizer

Array32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Tagger(TextTagger, ChangingModel):
    """A tagger with the scores of a linear chain (CRF).

    Attributes:
        weights: the weights of the linear chain.
        features: vectors and clusters of words, from unlabelled text.
        scheme: tagging scheme of the training data: ``tags``, or ``bio`` or ``bioes`` if tags encode spans.
        conventions: tokenisation conventions of the training data, for raw text.
        known: the words of the training data.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card.

    Examples:
        >>> import spectralnlp
        >>> tagger = spectralnlp.load("en-upos")
        >>> tagger.tag_tokens(["Gulls", "are", "noisy", "."]).tags
        ('NOUN', 'AUX', 'ADJ', 'PUNCT')
        >>> [list(tagged)[-1] for tagged in tagger.tag("It is cold. Gulls cry.")]
        [('.', 'PUNCT'), ('.', 'PUNCT')]
    """

    weights: ChainWeights
    features: UnlabelledFeatures
    scheme: Scheme
    conventions: Conventions
    known: frozenset[str] = frozenset()
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A tagger\n"

    task = "tagging"
    noun = "a tagger"
    kind = "chain"

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags of the linear chain, in the order of the columns of `posteriors`; BIOES tags for spans.

        Tags that were integers in the training data are integers.
        """
        return symbols_named(self.weights.tags)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The tags that the tagger may output; tags of spans are in the scheme of the training data."""
        if self.scheme == "tags":
            return self.tags
        names = {tag.partition("-")[2] for tag in self.weights.tags if tag != "O"}
        marks = "BI" if self.scheme == "bio" else "BIES"
        return ("O", *(f"{mark}-{name}" for name in sorted(names) for mark in marks))

    @classmethod
    def of_fitted(cls, fitted: Any) -> Tagger:
        """Build the tagger from a fitted ``tagger`` estimator."""
        return cls(
            weights=fitted.weights_,
            features=fitted.features_,
            scheme=fitted.scheme_,
            conventions=Conventions(),
            known=fitted.words_,
        )

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer for raw text, which follows the conventions of the training data."""
        return Tokenizer(self.conventions)

    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the best tag sequences of tokenised sentences, as plain lists of strings (or integers).

        Args:
            sentences: lists of words, as written in the training data.

        Returns:
            For each sentence, a tag for each word; tags of spans are in `scheme`.

        Raises:
            InputError: an item is a string instead of a list of tokens, or a token is not a string.
        """
        names = self.tags
        tags: list[list[str]] = []
        for batch in batches(check_sentences(sentences)):
            emissions, starts = self._scorer.emissions(batch)
            best = best_tags(emissions, starts, *self._chain).tolist()
            tags += [
                self._in_scheme([names[tag] for tag in best[first:last]]) for first, last in pairwise(starts)
            ]
        return tags

    def posteriors(self, sentence: Sequence[str]) -> NDArray[np.float64]:
        """Return the probability of each tag, in the order of `tags`.

        Scores are calibrated by one temperature, which was fitted on sentences held out in training.

        Returns:
            float64 (n_words, n_tags); rows sum to one.
        """
        p, _ = self._marginals(*self._scorer.emissions(check_sentences([sentence])))
        return p

    def confidence(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the probabilities of the tags that `best_tags` returns, a list per sentence.

        If tags encode spans, the probability of a tag is that of the corresponding BIOES tag in `tags`.
        """
        emissions, starts = self._scorer.emissions(check_sentences(sentences))
        best = best_tags(emissions, starts, *self._chain)
        p, _ = self._marginals(emissions, starts)
        confidence = p[np.arange(len(best)), best].tolist()
        return [confidence[first:last] for first, last in pairwise(starts)]

    def _marginals(
        self, emissions: Array32, starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        cold = np.float32(1 / self.weights.temperature)
        return tag_marginals(emissions * cold, starts, *(each * cold for each in self._chain))

    def explain(
        self, words: Sequence[str], token: int, tag: str | None = None, *, limit: int = 5
    ) -> TagExplanation:
        """Explain why a word has a tag and not the most probable other tag.

        The log-odds of the two tags are the sum of contributions of the features of the word and its
        neighbours, of the tags before, and of the tags after.

        If training examples were kept, the explanation names the most influential training sentences. For
        this, the weight of each feature is divided evenly among the training words that have both the feature
        and the tag that it favours; the influence of a sentence is the sum over its words. Weights of word
        vectors are not attributed to sentences.

        Args:
            words: one or more tokens, as for `tag_tokens`.
            token: index of the word, from 0.
            tag: the tag to explain, in the internal scheme (BIOES for spans); None for the best tag.
            limit: largest number of features, and of sentences, listed for and against the tag.

        Raises:
            InputError: there is no such token; or no tag sequence has the tag, or another tag, there.
            ConfigError: there is no such tag.
        """
        check_number(limit, "limit", least=1)
        forms = sentence_of(words, self.tokenizer).forms
        check_number(token, "token", least=0, most=len(forms) - 1)
        emissions, starts = self._scorer.emissions([forms])
        names, cold = self.tags, np.float32(1 / self.weights.temperature)
        name = None if tag is None else symbol_names([tag], "tag")[0]
        if name is not None and name not in self.weights.tags:
            shown = ", ".join(map(str, names[:20]))
            raise ConfigError(f"no tag {tag!r}", hint=f"the tagger has {shown}")
        best = best_tags(emissions, starts, *self._chain)
        y = int(best[token]) if name is None else self.weights.tags.index(name)
        chain = [each * cold for each in self._chain]
        other, before, after = other_tag(emissions * cold, chain, token, y)
        features = token_features(self.weights, self.features, forms, token)
        weights = (features.scores[:, y] - features.scores[:, other]) * float(cold)
        weighed = sorted(map(Feature, features.texts, weights.tolist()), key=lambda each: -abs(each.weight))
        explanation = TagExplanation(
            token=token,
            word=forms[token],
            tag=names[y],
            alternative=names[other],
            log_odds=float(weights.sum() + before + after),
            of_features=float(weights.sum()),
            before=float(before),
            after=float(after),
            features_in_favour=tuple(each for each in weighed if each.weight > 0)[:limit],
            features_against=tuple(each for each in weighed if each.weight < 0)[:limit],
        )
        if self.learned_sentences is None:
            return explanation
        in_favour, against = self.learned_sentences.evidence(features, weights, y, other, limit)
        return replace(explanation, in_favour=in_favour, against=against)

    @cached_property
    def learned_sentences(self) -> LearnedSentences | None:
        """The training sentences with their features; None if they were not kept."""
        return LearnedSentences.of(self)

    def _in_scheme(self, tags: list[str]) -> list[str]:
        """Convert tags from the internal scheme to the scheme of the training data."""
        if self.scheme == "tags" or self._internal_scheme == self.scheme:
            return tags
        return write_spans(spans_of(tags), len(tags), self.scheme)

    @cached_property
    def _internal_scheme(self) -> str:
        return "bioes" if any(tag[:2] in ("E-", "S-") for tag in self.weights.tags) else "bio"

    @property
    def _chain(self) -> tuple[Array32, Array32, Array32]:
        return self.weights.transitions, self.weights.start, self.weights.end

    @cached_property
    def _scorer(self) -> Scorer:
        return Scorer(self.weights, self.features, self.known)

    @property
    def summary(self) -> str:
        """The size of the tagger in a few words, for its ``repr``."""
        return f"{len(self.labels)} tags, {len(self.weights.keys):,} features"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name, as the command ``info`` shows them."""
        return {
            **self.about,
            "tags": len(self.labels),
            "scheme": self.scheme,
            "features": len(self.weights.keys),
            "numbers of a word": self.features.word_width,
        }

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return the JSON values and the arrays to store: the weights, and vectors and clusters of words.

        Args:
            compact: store weights and vectors as float16, and leave out features with negligible weights.
        """
        metadata = {
            "weights": self.weights.to_json(),
            "evidence": self.features.to_json(),
            "scheme": self.scheme,
            "conventions": self.conventions.to_dict(),
            "known": sorted(self.known),
            "about": dict(self.about),
        }
        return metadata, self.weights.to_arrays(compact=compact) | self.features.to_arrays(compact=compact)

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Tagger:
        """Build the tagger from the JSON values, the arrays and the model card of a model folder."""
        features = UnlabelledFeatures.from_arrays(arrays, metadata.part("evidence"))
        sized = arrays.part(
            n_offsets=len(OFFSETS),
            n_word_numbers=features.word_width,
        )
        return cls(
            weights=ChainWeights.from_arrays(sized, metadata.part("weights")),
            features=features,
            **metadata.fields(cls, "scheme", "conventions"),
            known=frozenset(metadata.take("known", tuple[str, ...])),
            about=metadata.about(),
            card=card,
        )
