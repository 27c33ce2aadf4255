"""The trained topic model, the result of ``spectralnlp.train("topics", …)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spectralnlp.errors import ConfigError
from spectralnlp.inference.topics.mixtures import mixtures_of
from spectralnlp.models.changing import ChangingModel
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.runtime import each_row, items_of
from spectralnlp.storage import Arrays, StoredArrays, StoredValues
from spectralnlp.text.content import content_words
from spectralnlp.text.inputs import check_tokens


@dataclass(frozen=True, repr=False)
class Topics(ChangingModel):
    """A topic model: each topic is a distribution over words, each document a mixture of topics.

    Attributes:
        mixture: the distributions of the topics over words, and the weights of the topics.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card.

    Examples:
        >>> import spectralnlp
        >>> texts = ["sea boat wave", "boat sea tide", "bread oven salt", "oven bread"] * 10
        >>> documents = [text.split() for text in texts]
        >>> topics = spectralnlp.train("topics", documents, n_topics=2, min_documents=1, max_share=1.0)
        >>> topics.mixtures_of([["boat", "tide"]]).shape
        (1, 2)
    """

    mixture: TopicMixture
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# Topics\n"

    task = "topics"
    noun = "topics"

    def __len__(self) -> int:
        return len(self.mixture.weights)

    def top_words(self, topic: int, n: int = 10) -> list[tuple[str, float]]:
        """Return the ``n`` most probable words of a topic, each with p(word | topic), best first.

        Args:
            topic: index of the topic, from 0.
            n: number of words.

        Raises:
            ConfigError: there is no such topic.
        """
        if not 0 <= topic < len(self):
            raise ConfigError(f"no topic {topic}", hint=f"topics are numbered from 0 to {len(self) - 1}")
        row = self.mixture.topics[topic]
        best = np.argsort(-row, kind="stable")[: max(n, 0)]
        return [(self.mixture.words[word], float(row[word])) for word in best]

    def mixture_of(self, document: str | Sequence[str]) -> Floats:
        """Return the topic mixture of a document, which is a text or a list of words.

        A document without known words gets the overall weights of the topics.

        Returns:
            float64 (n_topics,), which sums to one.
        """
        return self.mixtures_of([document])[0]

    def mixtures_of(self, documents: Iterable[str | Sequence[str]]) -> Floats:
        """Return the topic mixture of each document, which is a text or a list of words.

        Returns:
            float64 (n_documents, n_topics); rows sum to one.

        Raises:
            InputError: ``documents`` is a single text, a mapping or a table of several columns.
        """
        documents = items_of(documents, "several texts are expected", hint="mixture_of takes one", rows=True)
        return mixtures_of(self.mixture, each_row(_words_of, documents))

    @property
    def summary(self) -> str:
        """The size of the model in a few words, for its ``repr``."""
        return f"{len(self)} topics, {len(self.mixture.words):,} words"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name, as the command ``info`` shows them."""
        return {**self.about, "topics": len(self), "vocabulary": len(self.mixture.words)}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return the JSON values and the arrays to store: words, topics and their weights.

        ``compact`` has no effect.
        """
        return {**self.mixture.to_json(), "about": dict(self.about)}, self.mixture.to_arrays()

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Topics:
        """Build the model from the JSON values, the arrays and the model card of a model folder."""
        return cls(TopicMixture.from_arrays(arrays, metadata), metadata.about(), card)


def _words_of(document: str | Sequence[str]) -> list[str]:
    return content_words(document) if isinstance(document, str) else check_tokens(document)
