"""Topics: what `spectralnlp train topics` makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.inference.topics.mixtures import mixtures_of
from spectralnlp.parameters import Floats, TopicMixture
from spectralnlp.storage import StoredModel, save_model
from spectralnlp.text.content import content_words


@dataclass(frozen=True)
class Topics:
    """Distributions over words, and the mixture of them in a document.

    Attributes:
        mixture: the parameters.
        about: what the model was made from.
        card: the model card.
    """

    mixture: TopicMixture
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# Topics\n"

    task = "topics"

    def __len__(self) -> int:
        return len(self.mixture.weights)

    def top_words(self, topic: int, n: int = 10) -> list[tuple[str, float]]:
        """The likeliest words of a topic, with p(word | topic).

        Raises:
            ConfigError: there is no such topic.
        """
        if not 0 <= topic < len(self):
            raise ConfigError(f"no topic {topic}", hint=f"topics are numbered from 0 to {len(self) - 1}")
        row = self.mixture.topics[topic]
        best = np.argsort(-row, kind="stable")[: max(n, 0)]
        return [(self.mixture.words[word], float(row[word])) for word in best]

    def mixture_of(self, document: str | Sequence[str]) -> Floats:
        """float64 (k,), summing to one: how much of each topic is in a document, a text or its words.

        A document without known words has the topics' overall weights.
        """
        return self.mixtures_of([document])[0]

    def mixtures_of(self, documents: Iterable[str | Sequence[str]]) -> Floats:
        """float64 (n, k): the mixture of each document."""
        words = (content_words(each) if isinstance(each, str) else each for each in documents)
        return mixtures_of(self.mixture, words)

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name."""
        return {**self.about, "topics": len(self), "vocabulary": len(self.mixture.words)}

    def save(self, path: str | Path) -> None:
        """Write a model folder; parameters are stored as float32."""
        mixture = self.mixture
        metadata = {"words": mixture.words, "alpha0": mixture.alpha0, "about": dict(self.about)}
        arrays = {
            name: getattr(mixture, name).astype(np.float32) for name in ("weights", "topics", "frequencies")
        }
        save_model(path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card)

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Topics:
        """The model in a folder.

        Raises:
            ModelError: the folder does not hold topics.
        """
        try:
            arrays = {
                name: stored.arrays[name].astype(np.float64) for name in ("weights", "topics", "frequencies")
            }
            words, alpha0 = tuple(stored.metadata["words"]), float(stored.metadata["alpha0"])
            if arrays["topics"].shape != (len(arrays["weights"]), len(words)):
                raise ValueError("the arrays do not fit together")
            return cls(TopicMixture(words, alpha0=alpha0, **arrays), stored.metadata["about"])
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"not topics: {error!r}", path=stored.path, hint="train it again") from error
