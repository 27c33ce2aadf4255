"""Count words, and word pairs by distance: the moments (training statistics) of eigenwords."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.eigenwords.kernels import ID_BITS, ID_MASK, MAX_WINDOW, renumber_pairs
from spectralnlp.estimators.eigenwords.pairs import PairTable
from spectralnlp.estimators.eigenwords.spilled_pairs import SpilledPairs, parts_of
from spectralnlp.estimators.eigenwords.words import NamedWords
from spectralnlp.estimators.shared.spill_segments import SpillSegment
from spectralnlp.inference.words.spelling import Bytes, as_bytes
from spectralnlp.runtime import MAX_COUNT, Array, Batch, Memory, Moments, current_memory, default_memory
from spectralnlp.storage import StoredArrays, int_array
from spectralnlp.text.inputs import check_tokens
from spectralnlp.text.ngrams import Ngrams

# A line of text or several, the words of a sentence, or counted n-grams.
Example: TypeAlias = str | Sequence[str] | Ngrams

# Specification of the stored arrays, except the words.
_STATE = {
    "word_counts": int_array("n_words", dtype="int64", below=MAX_COUNT),
    "pairs": int_array("n_pairs", dtype="int64", ascending=True),
    "pair_counts": int_array("n_pairs", dtype="int64", below=MAX_COUNT),
}

# Memory allowed per word, in bytes; a segment is written to disk when its words exceed the limit.
_BYTES_FOR_A_WORD = 2048


class PairCounts(Moments[Example]):
    """Counts of words, and of pairs of words up to ``window`` apart in a sentence.

    An example is one or more lines of text (each line a sentence, words separated by blanks), the words of
    one sentence, or `Ngrams`. A pair consists of the distance, the left word and the right word; the end of a
    sentence counts as a word. Since all words are counted, the rows and columns of the word × context matrix
    can be chosen afterwards, and one pass over the text is enough.

    Counts can be added and subtracted exactly. Those that do not fit into memory (12 million pairs or 2
    million words, or the limit of `spectralnlp.runtime.use_memory`) are written to disk in spill segments,
    each with its own word ids.

    Args:
        window: largest distance.
        lowercase: whether to lower-case words before counting.

    Attributes:
        words: the words and their counts.
        pairs: the pairs and their counts.

    Examples:
        >>> from spectralnlp.estimators.eigenwords import PairCounts
        >>> from spectralnlp import InMemoryCorpus
        >>> from spectralnlp.runtime import accumulate
        >>> accumulate(PairCounts(window=1), InMemoryCorpus([["a", "b"], ["b", "c"]])).n_tokens
        4
    """

    words: NamedWords
    pairs: PairTable

    subtractable = True

    def __init__(self, window: int = 2, lowercase: bool = True) -> None:
        if not 1 <= window <= MAX_WINDOW:
            raise ConfigError(f"window must be between 1 and {MAX_WINDOW}, not {window}")
        self.window = window
        self.lowercase = lowercase
        self._clear(current_memory() or default_memory())

    def _clear(self, memory: Memory | None) -> None:
        self.memory = memory
        self.segments: list[SpillSegment] = []
        self._begin_segment()

    def _begin_segment(self) -> None:
        self.words = NamedWords()
        self.pairs = PairTable(self.memory)

    def empty_like(self) -> Self:
        """Return empty counts with the same parameters and the same memory limit."""
        empty = super().empty_like()
        empty._clear(self.memory)
        return empty

    @property
    def n_tokens(self) -> int:
        """Number of words counted, without sentence ends."""
        in_memory = int(self.words.counts[1:].sum())
        return in_memory + sum(segment.n_tokens for segment in self.segments)

    def observe(self, batch: Batch[Example]) -> None:
        """Count the words and pairs of each example."""
        lines: list[str] = []
        for example in batch:
            if isinstance(example, Ngrams):
                if example.words:
                    self._observe_ngrams(example)
            else:
                lines.append(example if isinstance(example, str) else " ".join(check_tokens(example)))
        if lines:
            self.pairs.observe(self.words.number(self._encoded("\n".join(lines))), self.window)
            self._bound_memory()

    def _encoded(self, text: str) -> Bytes:
        # Replace lone surrogates, which Python makes of undecodable bytes and UTF-8 cannot encode.
        text = text.lower() if self.lowercase else text
        return as_bytes(text.encode("utf-8", "replace") + b"\n")

    def _observe_ngrams(self, ngrams: Ngrams) -> None:
        """Count each n-gram's first word, and its pairs with the later words of the n-gram.

        All other pairs of a text are counted with other n-grams, which begin at later words.
        """
        order = len(ngrams.words[0])
        text = " ".join(word for ngram in ngrams.words for word in ngram)
        ids = self.words.find(self._encoded(text))[1:-1]
        if len(ids) != order * len(ngrams.words):
            raise InputError("a word of an n-gram is empty or has a blank in it")
        grid = ids.reshape(-1, order).astype(np.int64)
        np.add.at(self.words.counts, grid[:, 0], ngrams.counts)
        for distance in range(1, min(order, self.window + 1)):
            keys = distance << 2 * ID_BITS | grid[:, 0] << ID_BITS | grid[:, distance]
            self.pairs.add(keys, ngrams.counts)
        self._bound_memory()

    def names(self, numbers: NDArray[np.int64]) -> list[str]:
        """Return the words with the given ids.

        Raises:
            InputError: a word is not valid UTF-8, because the stored moments are damaged.
        """
        try:
            return [self.words.name(number).decode() for number in numbers.tolist()]
        except UnicodeDecodeError as error:
            raise InputError("a stored word is not valid UTF-8", hint="keep the moments again") from error

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored counts: words must be distinct and have counts, and pairs must be of known words."""
        letters = stored.take("words", int_array("n_letters", dtype="uint8"))
        names = _names({"words": letters})
        sized = stored.part(n_words=len(names))
        _, pairs, _ = (sized.take(name, spec) for name, spec in _STATE.items())
        if b" ".join(names[1:]).split() != names[1:] or len(set(names)) != len(names):
            raise stored.error("words", "holds a word twice, an empty one, or one with a blank in it")
        ends = np.column_stack([pairs >> ID_BITS & ID_MASK, pairs & ID_MASK])
        if (ends >= len(names)).any():
            raise stored.error("pairs", "holds a pair of a word that is not among the words")
        if not ((pairs >> 2 * ID_BITS >= 1) & (pairs >> 2 * ID_BITS <= self.window)).all():
            raise stored.error("pairs", f"holds a pair that is not 1 to {self.window} words apart")

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        self._clear(self.memory)
        self._take(arrays)

    def _take(self, arrays: Mapping[str, Array]) -> None:
        """Add counts of words and pairs, given in the arrays that `arrays` returns."""
        words = arrays["words"]
        ours = self.words.add(np.where(words == ord("\n"), np.uint8(ord(" ")), words), arrays["word_counts"])
        keys = arrays["pairs"].copy()
        renumber_pairs(keys, ours)
        self.pairs.add(keys, arrays["pair_counts"])
        self._bound_memory()

    @property
    def is_spilled(self) -> bool:
        """Whether some of the counts are on disk."""
        return bool(self.segments or self.pairs.runs)

    def close_segment(self) -> None:
        """Write all counts in memory to disk, as a new part with its own word ids (a spill segment)."""
        if self.memory is not None and self.words.counts.any():
            self.pairs.spill()
            words = self.words
            self.segments.append(
                SpillSegment.write(self.memory, words.table(), words.counts, self.pairs.runs)
            )
            self._begin_segment()

    def spilled(self) -> SpilledPairs | None:
        """Return the counts as files; those in memory are written first. None if all counts are in memory."""
        if self.memory is None or not self.is_spilled:
            return None
        self.close_segment()
        return SpilledPairs(self.memory, self.segments, self.window)

    def in_memory(self) -> PairCounts:
        """Return a copy whose counts are all in memory, even if they exceed the memory limit."""
        whole = type(self)(**self.parameters())
        whole._clear(None)
        self.close_segment()
        for segment in self.segments:
            for arrays in parts_of(segment):
                whole._take(arrays)
        return whole

    def _bound_memory(self) -> None:
        if self.memory is not None and self.words.n_words > self.memory.size // _BYTES_FOR_A_WORD:
            self.close_segment()

    def arrays(self) -> dict[str, Array]:
        """Return the counts as arrays for storage, in an order that depends on the counts alone.

        ``words``: uint8, the sorted words in UTF-8, separated by line feeds; their ids start at 1, and 0 is
        the end of a sentence. ``word_counts``: int64 (n_words + 1,). ``pairs``: int64 (n_pairs,), sorted
        keys. ``pair_counts``: int64 (n_pairs,). Counts on disk are included.
        """
        return (self.in_memory() if self.is_spilled else self)._arrays_in_memory()

    def _arrays_in_memory(self) -> dict[str, Array]:
        names = [self.words.name(number) for number in range(self.words.n_words)]
        order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
        renumbered = np.zeros(len(order), np.int32)
        renumbered[order] = np.arange(len(order))
        keys, counts = self.pairs.unsorted()
        renumber_pairs(keys, renumbered)
        by_key = np.argsort(keys)
        return {
            "words": np.frombuffer(b"\n".join([names[i] for i in order[1:]]), np.uint8).copy(),
            "word_counts": self.words.counts[order],
            "pairs": keys[by_key],
            "pair_counts": counts[by_key],
        }

    def _add(self, other: Self) -> None:
        if other.pairs.runs:
            other.close_segment()
        crowded = self.memory is not None and len(self.pairs) + len(other.pairs) > self.pairs.most / 2
        if self.pairs.runs or crowded:
            self.close_segment()
        self.segments += other.segments
        if not (len(self.pairs) or self.words.counts.any()):
            self.words, self.pairs = other.words.copy(), other.pairs.copy()
        else:
            ours = self.words.merge(other.words)
            keys, counts = other.pairs.unsorted()
            renumber_pairs(keys, ours)
            self.pairs.add(keys, counts)
            self._bound_memory()

    def _remove(self, other: Self) -> None:
        ours, theirs = self.arrays(), other.arrays()
        names = _names(ours)
        place_of = {name: place for place, name in enumerate(names)}
        places = np.array([place_of.get(name, -1) for name in _names(theirs)], np.int32)
        keys = theirs["pairs"].copy()
        renumber_pairs(keys, places)
        word_counts, pair_counts = ours["word_counts"], ours["pair_counts"]
        at = np.searchsorted(ours["pairs"], keys)
        at[at == len(ours["pairs"])] = 0
        if (places < 0).any() or (len(at) and not (len(pair_counts) and (ours["pairs"][at] == keys).all())):
            raise _never_counted()
        word_counts[places] -= theirs["word_counts"]
        np.subtract.at(pair_counts, at, theirs["pair_counts"])
        if (word_counts < 0).any() or (pair_counts < 0).any():
            raise _never_counted()
        kept = word_counts > 0
        kept[0] = True
        numbers = np.where(kept, np.cumsum(kept) - 1, -1).astype(np.int32)
        keys = ours["pairs"][pair_counts > 0]
        renumber_pairs(keys, numbers)
        left = [name for name, keep in zip(names, kept, strict=True) if keep]
        state: dict[str, Array] = {
            "words": np.frombuffer(b"\n".join(left[1:]), np.uint8),
            "word_counts": word_counts[kept],
            "pairs": keys,
            "pair_counts": pair_counts[pair_counts > 0],
        }
        self._restore(state)


def _names(arrays: Mapping[str, Array]) -> list[bytes]:
    letters = arrays["words"].tobytes()
    return [b"", *letters.split(b"\n")] if letters else [b""]


def _never_counted() -> InputError:
    return InputError("cannot remove counts that were not added", hint="remove only data that was added")
