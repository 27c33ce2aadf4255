"""Features from unlabelled text: eigenwords, their clusters, eigentokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.inference.chains.feature_kernels import add_contexts
from spectralnlp.inference.chains.filtering import Filter
from spectralnlp.inference.chains.filters import filter_of
from spectralnlp.inference.chains.predictor import SequencePredictor
from spectralnlp.inference.words.lookup import VectorLookup
from spectralnlp.parameters import SequenceParameters, WordClasses, WordVectors, read_sequence_parameters
from spectralnlp.storage import Arrays, StoredArrays, StoredValues, load_model, with_prefix

Array32 = NDArray[np.float32]
Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


class States(SequencePredictor):
    """Eigentokens of a hidden Markov model: the state after each word (tutorial, section on HMMs)."""

    stored_as = "filter"

    def __init__(self, filter_: Filter) -> None:
        self.filter = filter_

    @property
    def parameters(self) -> SequenceParameters:
        """The parameters of the model."""
        return self.filter.model

    def compact_arrays(self, *, words: bool, tokens: bool, clusters: bool) -> Arrays:
        """Stored arrays, all of them: small probabilities would not bear half precision."""
        return self.parameters.to_arrays()

    def _filter(self) -> Filter:
        return self.filter

    @property
    def dimensions(self) -> int:
        """Length of a state."""
        return self.filter.width


Source = VectorLookup | States

# The beginning of the names of arrays in model folders.
_STORED_AS = "evidence"
_CLASSES = f"{_STORED_AS}.word_"


@dataclass(frozen=True)
class UnlabelledFeatures:
    """Vectors and clusters that a tagger uses, any number of each.

    Attributes:
        sources: vectors or states; each is here once.
        eigenwords: numbers of sources that give vectors of words.
        eigentokens: numbers of those that give vectors of tokens in their context.
        clusters: numbers of those that give clusters of words.
        classes: classes of words by the tags of text that a first tagger tagged; None without.
    """

    sources: tuple[Source, ...] = ()
    eigenwords: tuple[int, ...] = ()
    eigentokens: tuple[int, ...] = ()
    clusters: tuple[int, ...] = ()
    classes: WordClasses | None = None

    @property
    def word_width(self) -> int:
        """Length of a word's vector."""
        return sum(self.sources[i].dimensions for i in self.eigenwords)

    @property
    def token_width(self) -> int:
        """Length of a token's vector."""
        return sum(self.sources[i].dimensions for i in self.eigentokens)

    def word_vectors(self, words: Sequence[str]) -> Array32:
        """float32 (n_words, word_width)."""
        rows = [self._words(i).vectors(words) for i in self.eigenwords]
        return np.hstack([np.zeros((len(words), 0), np.float32), *rows])

    def word_clusters(self, words: Sequence[str]) -> Ints:
        """int32 (n_words, n_clusterings); -1 for words without."""
        rows = [self._words(i).clusters(words)[:, None] for i in self.clusters]
        return np.hstack([np.zeros((len(words), 0), np.int32), *rows])

    def word_classes(self, words: Sequence[str]) -> Ints:
        """int32 (n_words,); 0 for words without."""
        return np.zeros(len(words), np.int32) if self.classes is None else self.classes.of(words)

    def context_places(self, words: Sequence[str]) -> Ints:
        """int32 (n_words, n_eigentokens): numbers of words among contexts; "" is the end of a sentence."""
        places = np.full((len(words), len(self.eigentokens)), -1, np.int32)
        for column, i in enumerate(self.eigentokens):
            source = self.sources[i]
            if isinstance(source, VectorLookup):
                places[:, column] = source.context_places(words)
        return places

    def token_vectors(
        self, sentences: Sequence[Sequence[str]], types: Ints, starts: Offsets, places: Ints
    ) -> Array32:
        """Eigentokens of the words of sentences.

        Args:
            sentences: words.
            types: int32 (n_tokens + 4 · n_sentences,); the words' numbers, two places around each sentence.
            starts: int64 (n_sentences + 1,).
            places: int32 (n_types, n_eigentokens), of `context_places`.

        Returns:
            float32 (n_tokens, token_width).
        """
        vectors = np.zeros((int(starts[-1]), self.token_width), np.float32)
        first = 0
        for column, i in enumerate(self.eigentokens):
            source = self.sources[i]
            out = vectors[:, first : first + source.dimensions]
            first += source.dimensions
            if isinstance(source, VectorLookup):
                blocks = source.parameters.blocks
                offsets = np.array([at for block in blocks for at in block], np.int64)
                block_of = np.array([b for b, block in enumerate(blocks) for _ in block], np.int64)
                place = np.ascontiguousarray(places[:, column])
                add_contexts(types, starts, place, offsets, block_of, source.context_vectors, out)
            else:
                for s, words in enumerate(sentences):
                    out[starts[s] : starts[s + 1]] = source.transform(words)
        return vectors

    def _words(self, i: int) -> VectorLookup:
        source = self.sources[i]
        assert isinstance(source, VectorLookup)
        return source

    def to_json(self) -> dict[str, Any]:
        """The JSON values of a model that carries these sources with it."""
        sources = [{source.stored_as: source.parameters.to_json()} for source in self.sources]
        described = {"sources": sources, **{name: list(getattr(self, name)) for name in _USES}}
        return described if self.classes is None else described | {"classes": self.classes.to_json()}

    def to_arrays(self, *, compact: bool = False) -> Arrays:
        """The arrays of such a model.

        Args:
            compact: vectors in half precision, and of vectors only what is used.
        """
        arrays: Arrays = {}
        for i, source in enumerate(self.sources):
            if compact:
                words, tokens, clusters = (i in getattr(self, name) for name in _USES)
                own = source.compact_arrays(words=words, tokens=tokens, clusters=clusters)
            else:
                own = source.parameters.to_arrays()
            arrays |= with_prefix(f"{_STORED_AS}.{i}.", own)
        if self.classes is not None:
            arrays |= with_prefix(_CLASSES, self.classes.to_arrays())
        return arrays

    @classmethod
    def from_arrays(cls, arrays: StoredArrays, described: StoredValues) -> UnlabelledFeatures:
        """The sources that gave these.

        Raises:
            ModelError: an array or a value is not as it must be.
        """
        sources = []
        for i, each in enumerate(described.parts("sources")):
            kind = next(iter(each), "")
            if len(each) != 1 or kind not in _READERS:
                raise each.error("", f"is not one of {', '.join(_READERS)}")
            sources.append(_READERS[kind](arrays.part(f"{_STORED_AS}.{i}."), each.part(kind)))
        uses = {name: described.indices(name, below=len(sources)) for name in _USES}
        for name in ("eigenwords", "clusters"):
            if not all(isinstance(sources[i], VectorLookup) for i in uses[name]):
                raise described.error(name, "names a source that has no vectors of words")
        if not all(_has_contexts(sources[i]) for i in uses["eigentokens"]):
            raise described.error("eigentokens", "names a source that has no contexts")
        classes = None
        if described.take("classes", Any, None) is not None:
            classes = WordClasses.from_arrays(arrays.part(_CLASSES), described.part("classes"))
        return cls(tuple(sources), uses["eigenwords"], uses["eigentokens"], uses["clusters"], classes=classes)


def load_features(
    eigenwords: Sequence[str], eigentokens: Sequence[str] | None, clusters: Sequence[str]
) -> UnlabelledFeatures:
    """Read the folders that a tagger's settings name.

    Args:
        eigenwords: folders of eigenwords, for their vectors.
        eigentokens: folders of eigenwords or of hidden Markov models, for states; None for the eigenwords
            that have contexts.
        clusters: folders of eigenwords, for their clusters.

    Raises:
        ModelError: a folder does not hold a model, or one of another kind.
        ConfigError: a folder of clusters has none, or one of eigentokens no contexts.
    """
    folders = list(dict.fromkeys([*eigenwords, *(eigentokens or ()), *clusters]))
    sources = [_load_source(folder) for folder in folders]
    number = {folder: i for i, folder in enumerate(folders)}
    for folder in [*eigenwords, *clusters]:
        if not isinstance(sources[number[folder]], VectorLookup):
            what = "a model of sequences has no vectors of words"
            raise ConfigError(what, path=folder, hint="name it in eigentokens")
    for folder in clusters:
        source = sources[number[folder]]
        if isinstance(source, VectorLookup) and source.parameters.clusters is None:
            hint = "train the eigenwords with clusters=500"
            raise ConfigError("these vectors have no clusters", path=folder, hint=hint)
    if eigentokens is None:
        eigentokens = [folder for folder in eigenwords if _has_contexts(sources[number[folder]])]
    for folder in eigentokens:
        if not _has_contexts(sources[number[folder]]):
            hint = "train with `spectralnlp train eigenwords`"
            raise ConfigError("these vectors have no contexts", path=folder, hint=hint)
    words, tokens, clustered = (
        tuple(number[folder] for folder in each) for each in (eigenwords, eigentokens, clusters)
    )
    return UnlabelledFeatures(tuple(sources), words, tokens, clustered)


def _has_contexts(source: Source) -> bool:
    return isinstance(source, States) or source.parameters.context_vectors is not None


def _load_source(folder: str) -> Source:
    stored = load_model(folder)
    if stored.kind == "vectors":
        return _read_vectors(stored.checked, stored.values)
    if stored.kind == "sequences":
        return _read_states(stored.checked, stored.values.part("filter"))
    hint = "give a folder made by `spectralnlp train eigenwords` or `train hmm`"
    raise ModelError(f"a model for {stored.kind}, not of words or sequences", path=folder, hint=hint)


def _read_vectors(arrays: StoredArrays, described: StoredValues) -> VectorLookup:
    return VectorLookup(WordVectors.from_arrays(arrays, described))


def _read_states(arrays: StoredArrays, described: StoredValues) -> States:
    return States(filter_of(read_sequence_parameters(arrays, described)))


_USES = ("eigenwords", "eigentokens", "clusters")
_READERS: Mapping[str, Callable[[StoredArrays, StoredValues], Source]] = {
    VectorLookup.stored_as: _read_vectors,
    States.stored_as: _read_states,
}
