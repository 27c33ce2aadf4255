"""What a text is for eigenwords: how often each word stood so many words before each other word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import ConfigError, InputError
from spectralnlp.estimators.eigenwords.kernels import ID_BITS, MAX_WINDOW, renumber_pairs
from spectralnlp.estimators.eigenwords.pairs import PairTable
from spectralnlp.estimators.eigenwords.spilled_pairs import parts_of
from spectralnlp.estimators.eigenwords.words import HashedWords, NamedWords, WordNumbers
from spectralnlp.estimators.shared.spill_segments import Epoch
from spectralnlp.inference.words.hashing import as_bytes
from spectralnlp.runtime import Array, Batch, Memory, Moments, current_memory
from spectralnlp.text.ngrams import Ngrams

Example: TypeAlias = str | Sequence[str] | Ngrams


class PairCounts(Moments[Example]):
    """Counts of words, and of pairs of words up to ``window`` apart in a sentence.

    An example is a line of text or several (a line is a sentence, words stand between blanks), or the words
    of one sentence, or `Ngrams`. The count of (distance, left, right) serves both words, as context after and
    as context before; a sentence's end is a word too, so that it can be a context. All words are counted, and
    which of them become rows and contexts is decided later: one pass over the text is enough.

    Exact in every direction, until more than ``max_words`` words or ``max_pairs`` pairs have come together:
    then the rarest are dropped, and `is_exact` says so. Memory is thus bounded for text of any length. Inside
    `spectralnlp.runtime.use_memory` nothing is dropped: what is too much goes to disk, in epochs (`Epoch`),
    each with a numbering of its own.

    Args:
        window: largest distance.
        lowercase: count words in small letters.
        max_words: words remembered at most.
        max_pairs: pairs remembered at most.
    """

    subtractable = True

    def __init__(
        self,
        window: int = 2,
        lowercase: bool = True,
        max_words: int = 2_000_000,
        max_pairs: int = 12_000_000,
    ) -> None:
        if not 1 <= window <= MAX_WINDOW:
            raise ConfigError(f"window must be between 1 and {MAX_WINDOW}, not {window}")
        if max_words < 2 or max_pairs < 2 * window:
            raise ConfigError(f"max_words and max_pairs are too small: {max_words} and {max_pairs}")
        self.window = window
        self.lowercase = lowercase
        self.max_words = max_words
        self.max_pairs = max_pairs
        self._limit(current_memory())

    def _limit(self, memory: Memory | None) -> None:
        self.memory = memory
        self._clear()

    def _clear(self) -> None:
        self.epochs: list[Epoch] = []
        self._n_forgotten = 0
        self._begin_epoch()

    def _begin_epoch(self) -> None:
        self.words = self._no_words()
        self.pairs = PairTable(self.max_pairs, self.memory)

    def empty_like(self) -> Self:
        """Empty counts of the same parameters, and with the same memory."""
        empty = super().empty_like()
        empty._limit(self.memory)
        return empty

    def _no_words(self) -> WordNumbers:
        return NamedWords()

    @property
    def is_exact(self) -> bool:
        """Whether nothing had to be dropped."""
        return not self._n_forgotten and not self.pairs.n_dropped

    @property
    def n_tokens(self) -> int:
        """Words counted, sentence ends not among them."""
        return int(self.words.counts[1:].sum()) + sum(epoch.n_tokens for epoch in self.epochs)

    @property
    def is_spilled(self) -> bool:
        """Whether a part of it is on disk."""
        return bool(self.epochs or self.pairs.runs)

    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        names = ("window", "lowercase", "max_words", "max_pairs")
        return {name: getattr(self, name) for name in names}

    def observe(self, batch: Batch[Example]) -> None:
        """Count the words and pairs of each example."""
        lines: list[str] = []
        for example in batch:
            if isinstance(example, Ngrams):
                if example.words:
                    self._observe_ngrams(example)
            else:
                line = example if isinstance(example, str) else " ".join(example)
                lines.append(line.lower() if self.lowercase else line)
        if lines:
            self.pairs.observe(self._number("\n".join(lines)), self.window)
            self._forget()

    def _number(self, text: str) -> NDArray[np.int32]:
        # A lone surrogate, as Python makes of bytes that it could not decode, has no UTF-8.
        return self.words.number(as_bytes(text.encode("utf-8", "replace") + b"\n"))

    def _observe_ngrams(self, ngrams: Ngrams) -> None:
        """Each n-gram gives the pairs of its first word; a text's n-grams give each of its pairs once."""
        order = len(ngrams.words[0])
        before = self.words.counts.copy()
        text = " ".join(word for ngram in ngrams.words for word in ngram)
        ids = self._number(text.lower() if self.lowercase else text)[1:-1]
        if len(ids) != order * len(ngrams.words):
            raise InputError("a word of an n-gram is empty or has a blank in it")
        grid = ids.reshape(-1, order).astype(np.int64)
        self.words.counts[: len(before)] = before
        self.words.counts[len(before) :] = 0
        np.add.at(self.words.counts, grid[:, 0], ngrams.counts)
        for distance in range(1, min(order, self.window + 1)):
            keys = distance << 2 * ID_BITS | grid[:, 0] << ID_BITS | grid[:, distance]
            self.pairs.add(keys, ngrams.counts)
        self._forget()

    def close_epoch(self) -> None:
        """Write all that is in memory to disk."""
        if self.memory is not None and isinstance(self.words, NamedWords) and self.words.counts.any():
            self.pairs.spill()
            words = self.words
            self.epochs.append(Epoch.write(self.memory, *words.table(), words.counts, self.pairs.runs))
            self._begin_epoch()

    def in_memory(self) -> PairCounts:
        """The same counts with nothing on disk, however large they are."""
        parameters = self.parameters() | {"max_words": 1 << 60, "max_pairs": 1 << 60}
        whole = type(self)(**parameters)
        whole._limit(None)
        self.close_epoch()
        for epoch in self.epochs:
            for arrays in parts_of(epoch):
                whole._take(arrays)
        return whole

    def _forget(self) -> None:
        words = self.words
        if self.memory is not None:
            if isinstance(words, NamedWords) and words.n_words > self.memory.size // _BYTES_FOR_A_WORD:
                self.close_epoch()
            return
        if isinstance(words, NamedWords) and words.n_words > self.max_words:
            counts = words.counts
            kept = counts > max(1, int(np.partition(counts, len(counts) // 2)[len(counts) // 2]))
            kept[0] = True
            self.pairs.renumber(words.keep(kept))
            self._n_forgotten += 1

    def names(self, numbers: NDArray[np.int64]) -> list[str]:
        """The words of some numbers, as text."""
        return [self.words.name(number).decode() for number in numbers.tolist()]

    def arrays(self) -> dict[str, Array]:
        """The state in an order that depends on nothing but the counts; copies.

        ``words``: uint8, in UTF-8 with line feeds between them, sorted (with hashing: by their numbers).
        ``numbers``: int64, theirs, the sentence's end (0) first. ``word_counts``: int64. ``pairs``: int64,
        keys. ``pair_counts``: int64. ``dropped``: int64 (2,), how often words and pairs were. All of it in
        memory, also what is on disk.
        """
        return (self.in_memory() if self.is_spilled else self)._arrays_in_memory()

    def _arrays_in_memory(self) -> dict[str, Array]:
        used = self.words.used()
        names = [self.words.name(number) for number in used.tolist()]
        numbers = used
        keys, counts = self.pairs.unsorted() if isinstance(self.words, NamedWords) else self.pairs.sorted()
        if isinstance(self.words, NamedWords):
            order = np.array(sorted(range(len(names)), key=names.__getitem__), np.int64)
            names, used, numbers = [names[i] for i in order], used[order], np.arange(len(order))
            renumbered = np.zeros(len(order), np.int32)
            renumbered[used] = numbers
            renumber_pairs(keys, renumbered)
            by_key = np.argsort(keys)
            keys, counts = keys[by_key], counts[by_key]
        return {
            "words": np.frombuffer(b"\n".join(names[1:]), np.uint8).copy(),
            "numbers": numbers,
            "word_counts": self.words.counts[used],
            "pairs": keys,
            "pair_counts": counts,
            "dropped": np.array([self._n_forgotten, self.pairs.n_dropped]),
        }

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        self._clear()
        self._take(arrays)

    def _take(self, arrays: Mapping[str, Array]) -> None:
        ours = self.words.add(_names(arrays), arrays["numbers"], arrays["word_counts"])
        keys = arrays["pairs"].copy()
        renumber_pairs(keys, ours)
        self.pairs.add(keys, arrays["pair_counts"])
        self._n_forgotten += int(arrays["dropped"][0])
        self.pairs.n_dropped += int(arrays["dropped"][1])
        self._forget()

    def _add(self, other: Self) -> None:
        if other.pairs.runs:
            other.close_epoch()
        crowded = self.memory is not None and len(self.pairs) + len(other.pairs) > self.pairs.most / 2
        if self.pairs.runs or crowded:
            self.close_epoch()
        self.epochs += other.epochs
        if not (len(self.pairs) or self.words.counts.any()):
            self.words, self.pairs = other.words.copy(), other.pairs.copy()
            self._n_forgotten = other._n_forgotten
        elif self._has_room_for(other):
            self._take_as_it_lies(other)
        else:
            self._take(other._arrays_in_memory())

    def _has_room_for(self, other: Self) -> bool:
        """Whether nothing will be dropped, so that it does not matter in which order things are taken in."""
        n_words, n_pairs = (
            len(self.words.counts) + len(other.words.counts),
            len(self.pairs) + len(other.pairs),
        )
        fits = self.memory is not None or (n_words <= self.max_words and n_pairs <= self.pairs.most)
        return fits and isinstance(self.words, NamedWords)

    def _take_as_it_lies(self, other: Self) -> None:
        assert isinstance(self.words, NamedWords)
        assert isinstance(other.words, NamedWords)
        ours = self.words.merge(other.words)
        keys, counts = other.pairs.unsorted()
        renumber_pairs(keys, ours)
        self.pairs.add(keys, counts)
        self._n_forgotten += other._n_forgotten
        self.pairs.n_dropped += other.pairs.n_dropped
        self._forget()

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
            "numbers": np.arange(len(left)),
            "word_counts": word_counts[kept],
            "pairs": keys,
            "pair_counts": pair_counts[pair_counts > 0],
            "dropped": ours["dropped"],
        }
        self._restore(state)


class HashedPairCounts(PairCounts):
    """The same with words numbered by hashing, in memory that is fixed from the start.

    Words that meet in a number are one word. They are called by the one with the smallest hash, which may
    have been in any part of the text: so these counts can be merged, but nothing can be taken out of them.
    They do not go to disk: of more than ``max_pairs`` pairs, the rarest are dropped.

    Args:
        hash_bits: there are 2^hash_bits numbers.
        window, lowercase, max_pairs: as in `PairCounts`.
    """

    subtractable = False

    def __init__(
        self, hash_bits: int, window: int = 2, lowercase: bool = True, max_pairs: int = 12_000_000
    ) -> None:
        if not 1 <= hash_bits < ID_BITS:
            raise ConfigError(f"hash_bits must be between 1 and {ID_BITS - 1}, not {hash_bits}")
        self.hash_bits = hash_bits
        super().__init__(window, lowercase, max_pairs=max_pairs)

    def _limit(self, memory: Memory | None) -> None:
        super()._limit(None)

    def _no_words(self) -> WordNumbers:
        return HashedWords(self.hash_bits)

    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {name: getattr(self, name) for name in ("hash_bits", "window", "lowercase", "max_pairs")}


_BYTES_FOR_A_WORD = 2048  # of the memory, to know how many words an epoch has room for


def _names(arrays: Mapping[str, Array]) -> list[bytes]:
    letters = arrays["words"].tobytes()
    return [b"", *letters.split(b"\n")] if letters else [b""]


def _never_counted() -> InputError:
    return InputError("cannot take out what was not counted", hint="take out only data that was put in")
