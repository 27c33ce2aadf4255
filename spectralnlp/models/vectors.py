"""Trained word vectors: lookup, nearest neighbours, clusters, and exchange in word2vec's format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from spectralnlp.errors import InputError
from spectralnlp.inference.words.lookup import Array32, VectorLookup, unit_rows
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.models.changing import ChangingModel
from spectralnlp.models.word2vec import read_word2vec, write_word2vec
from spectralnlp.parameters import WordVectors
from spectralnlp.storage import Arrays, StoredArrays, StoredValues
from spectralnlp.text.inputs import check_tokens


@dataclass(frozen=True, eq=False, repr=False)
class Vectors(ChangingModel):
    """A model of word vectors: vectors of words and of their contexts.

    Attributes:
        parameters: the vocabulary and its vectors.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card, in Markdown.

    Examples:
        >>> import spectralnlp
        >>> lines = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5
        >>> sentences = [line.split() for line in lines]
        >>> vectors = spectralnlp.train("eigenwords", sentences, dimensions=2, min_count=1)
        >>> vectors.vector("cat").shape
        (2,)
        >>> vectors.most_similar("cat", 1)[0][0]
        'dog'
    """

    parameters: WordVectors
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = ""

    task = "vectors"
    noun = "vectors"

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, the most frequent first."""
        return self.parameters.words

    @property
    def dimensions(self) -> int:
        """Number of dimensions of a vector."""
        return int(self.parameters.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.lookup.row(word) is not None

    @cached_property
    def lookup(self) -> VectorLookup:
        """The object that looks up vectors of words."""
        return VectorLookup(self.parameters)

    @cached_property
    def _directions(self) -> Array32:
        return unit_rows(self.parameters.vectors)

    def vector(self, word: str) -> Array32:
        """Return the vector of a word; for an unknown word, the vector that its spelling predicts.

        Returns:
            float32 (dimensions,).

        Raises:
            InputError: the word is not in the vocabulary, and there is no spelling model.
        """
        if self.parameters.spelling is None and word not in self:
            hint = "these vectors have no spelling model for unknown words"
            raise InputError(f"{word!r} is not in the vocabulary", hint=hint)
        return self.vectors([word])[0]

    def vectors(self, words: Sequence[str]) -> Array32:
        """Return the vectors of several words; unknown words get zeros if there is no spelling model.

        Returns:
            float32 (n_words, dimensions).

        Raises:
            InputError: ``words`` is a single string, or holds something that is not a string.
        """
        return self.lookup.vectors(check_tokens(words))

    def contexts(self, words: Sequence[str]) -> Array32:
        """Return the vector of each word's context, computed from the surrounding words of the sentence.

        Surrounding words are projected by the CCA weights of the second view (contexts), and the sum of the
        projections is scaled to length 1.

        Args:
            words: the words of one sentence.

        Returns:
            float32 (n_words, dimensions); zero where no surrounding word is known.

        Raises:
            InputError: the model has no context vectors, or ``words`` is a single string.
        """
        return self.lookup.contexts(check_tokens(words))

    def tokens(self, words: Sequence[str]) -> Array32:
        """Return eigentokens: for each word of a sentence, its vector joined with that of its context.

        Returns:
            float32 (n_words, 2 · dimensions).
        """
        return np.hstack([self.vectors(words), self.contexts(words)])

    def similarity(self, word: str, other: str) -> float:
        """Return the cosine of the vectors of two words."""
        pair = unit_rows(np.stack([self.vector(word), self.vector(other)]))
        return float(pair[0] @ pair[1])

    def most_similar(
        self, word: str | Array32, n: int = 10, *, among: int | None = None
    ) -> list[tuple[str, float]]:
        """Return the words whose vectors have the largest cosine with a given vector.

        Args:
            word: a word, which is left out of the result; or a vector.
            n: number of words to return.
            among: number of most frequent words to search; None for all.

        Returns:
            Pairs of a word and the cosine, the nearest first.
        """
        vector = self.vector(word) if isinstance(word, str) else np.asarray(word, np.float32)
        cosine = self._directions[:among] @ unit_rows(vector[None])[0]
        if isinstance(word, str) and (row := self.lookup.row(word)) is not None and row < len(cosine):
            cosine[row] = -np.inf
        n = min(n, len(cosine))
        nearest = np.argpartition(-cosine, n - 1)[:n] if n else np.empty(0, np.int64)
        nearest = nearest[np.lexsort((nearest, -cosine[nearest]))]
        return [(self.words[row], float(cosine[row])) for row in nearest if cosine[row] > -np.inf]

    def with_clusters(self, n: int, *, random_state: int = 0) -> Vectors:
        """Return a copy with ``n`` clusters of words, by k-means of the vectors scaled to length 1."""
        label, _ = kmeans(self._directions, n, random_state=random_state)
        return replace(self, parameters=replace(self.parameters, clusters=label), saved=None)

    def cluster(self, word: str) -> int | None:
        """Return the cluster id of a word; None for unknown words or if there are no clusters."""
        row = self.lookup.row(word)
        clusters = self.parameters.clusters
        return None if clusters is None or row is None else int(clusters[row])

    @property
    def summary(self) -> str:
        """The size of the model in a few words, for its ``repr``."""
        return f"{len(self):,} words, {self.dimensions} dimensions"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the vectors, by name, as the command ``info`` shows them."""
        parameters = self.parameters
        return {
            **self.about,
            "vocabulary": len(self),
            "dimensions": self.dimensions,
            "contexts": len(parameters.contexts),
            "unseen words": "by spelling" if parameters.spelling is not None else "none",
            "clusters": 0 if parameters.clusters is None else int(parameters.clusters.max()) + 1,
        }

    def to_word2vec(self, path: str | Path) -> None:
        """Write the vectors in word2vec's text format, which gensim and ``spacy init vectors`` read."""
        write_word2vec(path, self.words, self.parameters.vectors)

    @classmethod
    def from_word2vec(cls, path: str | Path) -> Vectors:
        """Read vectors in word2vec's text format, with or without the header line.

        Raises:
            InputError: a line lacks numbers, has too many, or has a value that is not a finite number (the
                message names the line); or the file has no vectors, or not as many as its header says.
        """
        words, vectors = read_word2vec(path)
        ones = np.ones(len(words), np.int64)
        singular = np.linalg.svd(vectors, compute_uv=False).astype(np.float32)
        about = {"source": Path(path).name}
        card = f"# Word vectors\n\nRead from `{Path(path).name}`.\n"
        parameters = WordVectors(words=tuple(words), counts=ones, vectors=vectors, singular_values=singular)
        return cls(parameters, about, card)

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return the JSON values and the arrays to store: the vocabulary and its vectors."""
        metadata = {**self.parameters.to_json(), "about": dict(self.about)}
        return metadata, self.parameters.to_arrays(compact=compact)

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Vectors:
        """Build the vectors from the JSON values, the arrays and the model card of a model folder."""
        return cls(WordVectors.from_arrays(arrays, metadata), metadata.about(), card)
