"""Mixin with the methods common to all taggers, for texts, tokenised sentences, and batches of either."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, overload

from spectralnlp.errors import ConfigError
from spectralnlp.models.tag_explanation import TagExplanation
from spectralnlp.models.tagged import Tagged
from spectralnlp.runtime import each_row, items_of
from spectralnlp.text.inputs import (
    Item,
    Tokens,
    annotate_items,
    check_text,
    check_tokens,
    sentence_of,
    split_text,
)
from spectralnlp.text.spans import Scheme, Span, spans_of
from spectralnlp.text.tokenizer import Tokenizer
from spectralnlp.text.tokens import Sentence

# Words, plus one per sentence, in a batch; the last sentence of a batch is not split.
BATCH_WORDS = 1 << 13


class TextTagger(ABC):
    """Mixin of taggers: methods that tag a text, a tokenised sentence, or a batch of either."""

    # Provided by fields and properties of the model.
    tokenizer: Any
    scheme: Any

    @abstractmethod
    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return the best tags of tokenised sentences, as plain lists of strings or integers."""

    @abstractmethod
    def confidence(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the probabilities of the tags that `best_tags` returns, a list per sentence."""

    def tag(self, text: str, *, scores: bool = False) -> list[Tagged]:
        """Tag every sentence of a text.

        Args:
            text: raw text.
            scores: whether to return the probability of each tag too, which takes twice the time.

        Raises:
            InputError: ``text`` is not a string.
        """
        sentences = split_text(check_text(text, "tag"), self._tokenizer)
        return list(self._tagged(sentences, scores))

    def tag_tokens(self, words: Iterable[str], *, scores: bool = False) -> Tagged:
        """Tag one tokenised sentence.

        Args:
            words: one or more tokens, as in raw text or as in the training data.
            scores: see `tag`.

        Raises:
            InputError: ``words`` is a single string, empty, or holds something that is not a string.
        """
        (tagged,) = self._tagged([sentence_of(words, self._tokenizer)], scores)
        return tagged

    @overload
    def tag_many(self, items: Iterable[Tokens | Sentence], *, scores: bool = False) -> Iterator[Tagged]: ...
    @overload
    def tag_many(self, items: Iterable[str], *, scores: bool = False) -> Iterator[list[Tagged]]: ...
    def tag_many(self, items: Iterable[Item], *, scores: bool = False) -> Iterator[Any]:
        """Tag a stream of texts or of tokenised sentences, lazily and in order.

        Args:
            items: texts, tokenised sentences or `Sentence`s.
            scores: see `tag`.

        Yields:
            The result of `tag` for each text, and of `tag_tokens` for each tokenised sentence.

        Raises:
            InputError: an item is neither a text nor a tokenised sentence.
        """
        return annotate_items(items, self._tokenizer, lambda each: self._tagged(filter(None, each), scores))

    def explain(
        self, words: Sequence[str], token: int, tag: str | None = None, *, limit: int = 5
    ) -> TagExplanation:
        """Raise a ConfigError; taggers that can explain their tags override this method (`Tagger.explain`).

        Raises:
            ConfigError: always, because only a tagger that scores features can explain its tags.
        """
        what = f"{type(self).__name__} scores no features that could explain a tag"
        raise ConfigError(what, hint="train the tagger with `train tagger`")

    def spans(self, words: Sequence[str]) -> list[Span]:
        """Return spans of a sentence as (start, end, label), end exclusive; empty if tags encode no spans."""
        listed = check_tokens(words)
        return [] if self.scheme == "tags" else spans_of(self.best_tags([listed])[0])

    @property
    def _tokenizer(self) -> Tokenizer:
        tokenizer: Tokenizer = self.tokenizer
        return tokenizer

    def _tagged(self, sentences: Iterable[Sentence], scores: bool) -> Iterator[Tagged]:
        scheme: Scheme = self.scheme
        for batch in batches(sentences):
            forms = [sentence.forms for sentence in batch]
            confidence: Iterable[list[float] | None] = self.confidence(forms) if scores else repeat(None)
            for sentence, tags, each in zip(batch, self.best_tags(forms), confidence, strict=False):
                yield Tagged(sentence, tuple(tags), scheme, None if each is None else tuple(each), self)


def check_sentences(
    sentences: Iterable[Sequence[Any]], read: Callable[[Any], list[str]] = check_tokens
) -> list[list[str]]:
    """Check that a batch holds tokenised sentences, and return their tokens.

    Args:
        sentences: the batch.
        read: checks a sentence and returns its tokens; `runtime.symbol_names` also takes integers.

    Raises:
        InputError: the batch is a string, or an item of it is a string instead of a list of tokens, or as
            ``read`` does. The message has the number of the sentence, from 1.
    """
    hint = "give lists of tokens; tag takes a text, tag_many a batch of texts"
    expected = "tokenised sentences are expected"

    def tokens(sentence: Any) -> list[str]:
        return read(items_of(sentence, expected, hint=hint))

    return list(each_row(tokens, items_of(sentences, expected, hint=hint, rows=True)))


def batches(sentences: Iterable[Any]) -> Iterator[list[Any]]:
    """Group a stream of sentences into lists of about `BATCH_WORDS` words."""
    batch: list[Any] = []
    size = 0
    for sentence in sentences:
        batch.append(sentence)
        size += len(sentence) + 1
        if size >= BATCH_WORDS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
