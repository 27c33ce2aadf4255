"""Counts of events as moments, which can be merged and subtracted exactly."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Self, TypeAlias, TypeVar, cast

import numpy as np

from spectralnlp.errors import InputError
from spectralnlp.runtime.corpus import Batch
from spectralnlp.runtime.moments import Array, Moments
from spectralnlp.runtime.stored_moments import stored_keys
from spectralnlp.storage import StoredArrays

T = TypeVar("T")
Key: TypeAlias = str | tuple[str, ...]


class Counts(Moments[T]):
    """Counts of events, such as words, n-grams or rules; merging and subtracting are exact.

    A subclass defines the events of an example; by default, an example is an iterable of keys (the words
    of a sentence). A key is a string or a tuple of strings.

    Examples:
        >>> from spectralnlp import Counts, InMemoryCorpus
        >>> from spectralnlp.runtime import accumulate
        >>> class Words(Counts):
        ...     def events(self, example):
        ...         return example
        ...
        >>> words = accumulate(Words(), InMemoryCorpus([["a", "b"], ["b"]]))
        >>> dict(words.items())
        {'a': 1, 'b': 2}
    """

    subtractable = True

    def __init__(self) -> None:
        self._counter: Counter[Key] = Counter()

    def events(self, example: T) -> Iterable[Key]:
        """Return the keys to count in an example, such as its words, once for each occurrence."""
        return cast(Iterable[Key], example)

    def observe(self, batch: Batch[T]) -> None:
        """Count the keys (see `events`) of each example of a batch.

        Raises:
            InputError: a key is neither a string nor a tuple; the message has the row of the example.
        """
        for keys in batch.mapped(self._keys_of):
            self._counter.update(keys)

    def _keys_of(self, example: T) -> list[Key]:
        keys = list(self.events(example))
        for kind in set(map(type, keys)):
            if not issubclass(kind, str | tuple):
                what = f"{kind.__name__} cannot be counted"
                raise InputError(what, hint="give strings, or tuples of strings")
        return keys

    def add(self, events: Iterable[Key] | Mapping[Key, int]) -> None:
        """Count more events, in place.

        Args:
            events: an iterable of keys, each counted once per occurrence; or a mapping from keys to the
                numbers to add to their counts.
        """
        self._counter.update(events)

    def __getitem__(self, key: Key) -> int:
        return self._counter[key]

    def __contains__(self, key: Key) -> bool:
        return self[key] > 0

    def __len__(self) -> int:
        return len(self._counter)

    def items(self) -> Iterator[tuple[Key, int]]:
        """Return an iterator over (key, count), sorted by key."""
        return iter(sorted(self._counter.items(), key=lambda item: _sortable(item[0])))

    def top(self, n: int | None = None) -> list[Key]:
        """Return the ``n`` most frequent keys (all if None); ties are sorted by key."""
        return [key for key, _ in sorted(self.items(), key=lambda item: -item[1])[:n]]

    def total(self) -> int:
        """Return the sum of all counts."""
        return self._counter.total()

    def arrays(self) -> dict[str, Array]:
        """Return the counts as arrays for storage, sorted by key.

        ``keys``: uint8, the keys as JSON in UTF-8. ``counts``: int64, the count of each key.
        """
        items = list(self.items())
        text = json.dumps([key for key, _ in items], separators=(",", ":"))
        return {
            "keys": np.frombuffer(text.encode(), dtype=np.uint8).copy(),
            "counts": np.array([count for _, count in items], dtype=np.int64),
        }

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored counts: keys must be distinct and valid (`is_key`), and counts must be positive."""
        if not all(map(self.is_key, stored_keys(stored))):
            raise stored.error("keys", "holds a key that is no event")

    def is_key(self, key: Key) -> bool:
        """Whether a key read from a file is valid; here always True, but subclasses may reject keys."""
        return True

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        keys = json.loads(arrays["keys"].tobytes())
        counts = arrays["counts"].tolist()
        self._counter = Counter(
            {key if isinstance(key, str) else tuple(key): n for key, n in zip(keys, counts, strict=True)}
        )

    def _add(self, other: Self) -> None:
        self._counter.update(other._counter)

    def _remove(self, other: Self) -> None:
        for key, count in other._counter.items():
            if count > self._counter[key]:
                what = f"cannot take out {count} of {key!r}: {self._counter[key]} counted"
                raise InputError(what, hint="take out only data that was put in")
        self._counter.subtract(other._counter)
        for key in other._counter:
            if not self._counter[key]:
                del self._counter[key]


def _sortable(key: Key) -> tuple[tuple[str, ...], bool]:
    return ((key,), False) if isinstance(key, str) else (key, True)
