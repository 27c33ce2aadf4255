"""Moments of refinement hidden Markov models: a replay log of tagged sentences, as columns of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.estimators.shared.projections import Nodes
from spectralnlp.parameters import Floats, Ints
from spectralnlp.runtime import Array, Batch, ReplayLog, pack_names, places_of, slices_of, unpack_names
from spectralnlp.trees.numbering import Numbering

TaggedSentence = tuple[Sequence[str], Sequence[str]]  # words, and the tag of each


@dataclass(frozen=True, kw_only=True)
class TagTable:
    """Tokens of tagged sentences, one after the other.

    Attributes:
        tags: names, sorted.
        words: word types, sorted.
        tag, word: int32 (n_tokens,).
        sentence: int32 (n_tokens,), ascending; which sentence.
        weight: float64 (n_tokens,); how often each token counts, that is its sentence; 1 as it is read.
    """

    tags: tuple[str, ...]
    words: tuple[str, ...]
    tag: Ints
    word: Ints
    sentence: Ints
    weight: Floats

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return len(self.tag)

    @property
    def nodes(self) -> Nodes:
        """The tokens as nodes, whose symbols are their tags."""
        return Nodes(self.tag, self.weight, len(self.tags))

    @property
    def first(self) -> NDArray[np.bool_]:
        """Whether each token begins its sentence."""
        return np.append(True, self.sentence[1:] != self.sentence[:-1])[: self.n_tokens]

    @property
    def last(self) -> NDArray[np.bool_]:
        """Whether each token ends its sentence."""
        return np.append(self.sentence[1:] != self.sentence[:-1], True)[: self.n_tokens]


@dataclass(frozen=True)
class _Chunk:
    """Tokens in order, and how many each sentence has."""

    tag: Ints
    word: Ints
    sizes: Ints


class TagLog(ReplayLog[TaggedSentence]):
    """Sentences observed, as integers; merging concatenates in the order of documents and rows.

    Examples:
        >>> from spectralnlp.estimators.rhmm import TagLog
        >>> from spectralnlp import InMemoryCorpus
        >>> from spectralnlp.runtime import accumulate
        >>> log = accumulate(TagLog(), InMemoryCorpus([(["a", "dog"], ["DT", "NN"])]))
        >>> log.parameters()
        {}
    """

    pass_name = "sentences"
    columns: ClassVar = {"tag": "tags", "word": "words"}

    def __init__(self) -> None:
        self._tags, self._words = Numbering(), Numbering()
        self._chunks: dict[tuple[int, int], _Chunk] = {}

    def parameters(self) -> dict[str, object]:
        """None."""
        return {}

    def observe(self, batch: Batch[TaggedSentence]) -> None:
        """Add sentences.

        Raises:
            InputError: a sentence has more words than tags, or fewer.
        """
        if not len(batch):
            return  # its key may be that of the batch that really begins there
        tag, word, sizes = [], [], []
        for row, (words, tags) in enumerate(batch, batch.start):
            if len(words) != len(tags):
                what = f"sentence {row + 1} of {batch.document}: {len(words)} words and {len(tags)} tags"
                raise InputError(what, hint="give each word one tag")
            sizes.append(len(words))
            tag += [self._tags[name] for name in tags]
            word += [self._words[name] for name in words]
        columns = (np.array(column, np.int32) for column in (tag, word, sizes))
        self._chunks[batch.document_index, batch.start] = _Chunk(*columns)

    def table(self) -> TagTable:
        """All tokens, in the order of documents and rows; sentences without any are not numbered."""
        chunks = [self._chunks[key] for key in sorted(self._chunks)]
        (tags, tag_rank), (words, word_rank) = self._tags.ranked(), self._words.ranked()
        tag, word, sizes = (
            np.concatenate([np.empty(0, np.int32), *(getattr(chunk, name) for chunk in chunks)])
            for name in ("tag", "word", "sizes")
        )
        sizes = sizes[sizes > 0]
        sentence = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        return TagTable(
            tags=tags,
            words=words,
            tag=tag_rank[tag],
            word=word_rank[word],
            sentence=sentence,
            weight=np.ones(len(tag)),
        )

    def arrays(self) -> dict[str, Array]:
        """The canonical table and the place of each sentence; the same sentences give the same bytes."""
        table = self.table()
        return {
            "tags": pack_names(table.tags),
            "words": pack_names(table.words),
            "tag": table.tag,
            "word": table.word,
            "places": places_of({place: chunk.sizes.tolist() for place, chunk in self._chunks.items()}),
        }

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        self._tags = Numbering.of(unpack_names(arrays["tags"]))
        self._words = Numbering.of(unpack_names(arrays["words"]))
        for place, part in slices_of(arrays["places"]):
            size = np.array([part.stop - part.start], np.int32)
            self._chunks[place] = _Chunk(arrays["tag"][part], arrays["word"][part], size)

    def _add(self, other: TagLog) -> None:
        tag, word = self._tags.numbers_of(other._tags), self._words.numbers_of(other._words)
        for key, chunk in other._chunks.items():
            self._chunks[key] = _Chunk(tag[chunk.tag], word[chunk.word], chunk.sizes)

    def _forget_rest(self, forgotten: TagLog) -> None:
        """There is nothing else."""
