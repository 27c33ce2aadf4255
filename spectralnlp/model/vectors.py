"""Word vectors: what a user looks up, compares and hands to other programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError, ModelError
from spectralnlp.estimators.eigenwords.spelling import spell_vectors
from spectralnlp.estimators.eigenwords.words import bucket_of
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.model.word2vec import read_word2vec, write_word2vec
from spectralnlp.parameters import Spelling, WordVectors
from spectralnlp.storage import StoredModel, save_model

Array32 = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of words, and of words in their context.

    Attributes:
        parameters: the vocabulary and its vectors.
        about: estimator, settings and the like, for ``info`` and the model card.
        card: the model card, Markdown.
    """

    parameters: WordVectors
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = ""

    task = "vectors"

    @property
    def words(self) -> tuple[str, ...]:
        """The vocabulary, the most frequent first."""
        return self.parameters.words

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return int(self.parameters.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._row(word) is not None

    @cached_property
    def _rows(self) -> Mapping[Any, int]:
        known = self.words if self.parameters.numbers is None else self.parameters.numbers.tolist()
        return {each: row for row, each in enumerate(known)}

    def _row(self, word: str) -> int | None:
        if self.parameters.lowercase:
            word = word.lower()
        if self.parameters.hash_bits is not None:
            return self._rows.get(bucket_of(word, self.parameters.hash_bits))
        return self._rows.get(word)

    @cached_property
    def _directions(self) -> Array32:
        return _unit_rows(self.parameters.vectors)

    def vector(self, word: str) -> Array32:
        """The vector of a word; of one outside the vocabulary, that of its spelling.

        Returns:
            float32 (dimensions,).

        Raises:
            InputError: the word is not in the vocabulary, and these vectors do not know how to spell.
        """
        row = self._row(word)
        if row is not None:
            return self.parameters.vectors[row]
        if self.parameters.spelling is None:
            hint = "these vectors have no model of spelling for other words"
            raise InputError(f"{word!r} is not in the vocabulary", hint=hint)
        return self._spelled([word])[0]

    def vectors(self, words: Sequence[str]) -> Array32:
        """Vectors of several words; zeros for unknown words if there is no model of spelling.

        Returns:
            float32 (n_words, dimensions).
        """
        rows = [self._row(word) for word in words]
        vectors = np.zeros((len(rows), self.dimensions), np.float32)
        known = {place: row for place, row in enumerate(rows) if row is not None}
        vectors[list(known)] = self.parameters.vectors[list(known.values())]
        unknown = [place for place, row in enumerate(rows) if row is None]
        if unknown and self.parameters.spelling is not None:
            vectors[unknown] = self._spelled([words[place] for place in unknown])
        return vectors

    def _spelled(self, words: Sequence[str]) -> Array32:
        spelling = self.parameters.spelling
        assert spelling is not None
        written = [word.lower() for word in words] if self.parameters.lowercase else words
        vectors = spell_vectors(spelling, written)
        # Regression shrinks; where the vectors have one length, so should these.
        return _unit_rows(vectors) * self._length

    @cached_property
    def _length(self) -> np.float32:
        return np.float32(np.median(np.linalg.norm(self.parameters.vectors, axis=1)))

    def contexts(self, words: Sequence[str]) -> Array32:
        """For each word of a sentence, the vector of its context: what the words around it let expect.

        It is the other side of the CCA, z = Bᵀ(context) of the tutorial, scaled to length 1.

        Args:
            words: one sentence.

        Returns:
            float32 (n_words, dimensions); zero where no word around is known.

        Raises:
            InputError: these vectors came without contexts.
        """
        parameters = self.parameters
        if parameters.context_vectors is None:
            raise InputError(
                "these vectors have no contexts", hint="train with `spectralnlp train eigenwords`"
            )
        places = [-1 if place is None else place for place in map(self._context, ["", *words, ""])]
        state = np.zeros((len(words), self.dimensions), np.float32)
        for block, offsets in enumerate(parameters.blocks):
            for offset in offsets:
                for token in range(len(words)):
                    at = token + 1 + offset  # sentence ends are the first and the last place
                    if 0 <= at < len(places) and places[at] >= 0:
                        state[token] += parameters.context_vectors[block, places[at]]
        return _unit_rows(state)

    def tokens(self, words: Sequence[str]) -> Array32:
        """Eigentokens: for each word of a sentence, its own vector and that of its context.

        Returns:
            float32 (n_words, 2 · dimensions).
        """
        return np.hstack([self.vectors(words), self.contexts(words)])

    @cached_property
    def _context_places(self) -> Mapping[str, int]:
        return {word: place for place, word in enumerate(self.parameters.contexts)}

    def _context(self, word: str) -> int | None:
        if self.parameters.hash_bits is not None and word:
            row = self._row(word)  # contexts are the first words of the vocabulary, behind the sentence's end
            return row + 1 if row is not None and row + 1 < len(self.parameters.contexts) else None
        return self._context_places.get(word.lower() if self.parameters.lowercase else word)

    def similarity(self, word: str, other: str) -> float:
        """The cosine of two words' vectors."""
        pair = _unit_rows(np.stack([self.vector(word), self.vector(other)]))
        return float(pair[0] @ pair[1])

    def most_similar(
        self, word: str | Array32, n: int = 10, *, among: int | None = None
    ) -> list[tuple[str, float]]:
        """The words whose vectors point most nearly the same way.

        Args:
            word: a word (which is left out itself) or a vector.
            n: how many.
            among: look only among the most frequent so many words.

        Returns:
            Words with the cosine, the nearest first.
        """
        vector = self.vector(word) if isinstance(word, str) else np.asarray(word, np.float32)
        cosine = self._directions[:among] @ _unit_rows(vector[None])[0]
        if isinstance(word, str) and (row := self._row(word)) is not None and row < len(cosine):
            cosine[row] = -np.inf
        n = min(n, len(cosine))
        nearest = np.argpartition(-cosine, n - 1)[:n] if n else np.empty(0, np.int64)
        nearest = nearest[np.lexsort((nearest, -cosine[nearest]))]
        return [(self.words[row], float(cosine[row])) for row in nearest if cosine[row] > -np.inf]

    def with_clusters(self, n: int, *, random_state: int = 0) -> Vectors:
        """The same vectors with ``n`` k-means clusters of words."""
        label, _ = kmeans(self._directions, n, random_state=random_state)
        return replace(self, parameters=replace(self.parameters, clusters=label))

    def cluster(self, word: str) -> int | None:
        """The cluster of a word of the vocabulary; None for other words or if there are no clusters."""
        row = self._row(word)
        clusters = self.parameters.clusters
        return None if clusters is None or row is None else int(clusters[row])

    @property
    def info(self) -> dict[str, Any]:
        """What these vectors are, by name."""
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
        """Read vectors in word2vec's text format, with or without its first line.

        Raises:
            InputError: a line has another width, or no number; with its number.
        """
        words, vectors = read_word2vec(path)
        ones = np.ones(len(words), np.int64)
        singular = np.linalg.svd(vectors, compute_uv=False).astype(np.float32)
        about = {"source": Path(path).name}
        card = f"# Word vectors\n\nRead from `{Path(path).name}`.\n"
        return cls(WordVectors(tuple(words), ones, vectors, singular), about, card)

    def save(self, path: str | Path) -> None:
        """Write a model folder; see :func:`spectralnlp.storage.save_model`."""
        p = self.parameters
        arrays: dict[str, NDArray[Any]] = {
            "counts": p.counts, "vectors": p.vectors, "singular_values": p.singular_values,
        }  # fmt: skip
        optional = {"context_vectors": p.context_vectors, "numbers": p.numbers, "clusters": p.clusters}
        if p.spelling is not None:
            optional |= {"spelling.weights": p.spelling.weights, "spelling.mean": p.spelling.mean}
        arrays |= {name: array for name, array in optional.items() if array is not None}
        metadata = {
            "words": list(p.words),
            "contexts": list(p.contexts),
            "blocks": p.blocks,
            "lowercase": p.lowercase,
            "hash_bits": p.hash_bits,
            "about": dict(self.about),
        }
        save_model(path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card)

    @classmethod
    def from_stored(cls, stored: StoredModel) -> Vectors:
        """The vectors in a model folder.

        Raises:
            ModelError: the folder does not hold what vectors need.
        """
        metadata, arrays = stored.metadata, stored.arrays
        try:
            spelling = None
            if "spelling.weights" in arrays:
                spelling = Spelling(arrays["spelling.weights"], arrays["spelling.mean"])
            return cls(
                WordVectors(
                    tuple(metadata["words"]), arrays["counts"], arrays["vectors"], arrays["singular_values"],
                    tuple(metadata["contexts"]), tuple(tuple(each) for each in metadata["blocks"]),
                    arrays.get("context_vectors"), metadata["lowercase"], metadata["hash_bits"],
                    arrays.get("numbers"), spelling, arrays.get("clusters"),
                ),
                metadata["about"],
            )  # fmt: skip
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"not vectors: {error!r}", path=stored.path, hint="train it again") from error


def _unit_rows(x: Array32) -> Array32:
    return x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), np.float32(1e-12))
