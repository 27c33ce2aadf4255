"""Replay logs: examples stored as integers, so that training can be repeated on changed data.

Some methods make a second pass whose sums are projected by an SVD of the sums of the first pass. If examples
are added or removed, the SVD changes, so the old sums cannot be corrected by adding or subtracting. A replay
log stores the examples themselves, from which all passes are repeated. It is smaller than the text, but
larger than sums.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from spectralnlp.runtime.moments import Array, Mask, Moments
from spectralnlp.storage import ArraySpec, StoredArrays, int_array

T = TypeVar("T")


class ReplayLog(Moments[T]):
    """Base class of replay logs: all examples in order, so that training can be repeated on changed data.

    An example is a sequence of items, such as tokens or tree nodes. For storage, `arrays` of a subclass
    returns:

    - ``places``, int64 (n_examples, 3): document, row in the document and number of items of each example;
    - arrays of names (of words or labels), packed by `pack_names`;
    - an array of integers for each name in ``columns``, with an entry for each item, such as its word id.
    """

    # Arrays with an entry for each item, and the array of names whose ids they are (-1: no name) or None.
    columns: ClassVar[Mapping[str, str | None]]

    # Observed batches, by document and row of their first example.
    _chunks: dict[tuple[int, int], Any]

    @property
    def can_forget(self) -> bool:
        """True, because `remove` can drop any examples."""
        return True

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check stored arrays: examples in order, an entry for each item in each column, and valid ids."""
        places = stored.take("places", int_array("n_examples", 3, dtype="int64"))
        _check_order(places, stored)
        n_items = sum(places[:, 2].tolist())
        sizes = {each: len(checked_names(stored, each)) for each in self.columns.values() if each}
        sized = stored.part(n_items=n_items)
        sized.sizes |= {f"n_{name}": size for name, size in sizes.items()}
        is_used = {name: np.zeros(size, bool) for name, size in sizes.items()}
        for column, names in self.columns.items():
            spec = self.column_spec(column)
            if names is None:
                sized.take(column, spec)
            else:
                numbers = sized.take(column, replace(spec, below=f"n_{names}"))
                is_used[names][numbers[numbers >= 0]] = True
        for names, used in is_used.items():
            if not used.all():
                raise stored.error(names, "holds a name that no example has")

    def column_spec(self, column: str) -> ArraySpec:
        """Return the declaration (dtype, shape and range) by which a stored column is validated.

        The base class declares nonnegative int32 numbers.
        """
        return int_array("n_items")

    def append(self, other: Self) -> None:
        """Append the documents of another log, in place.

        Raises:
            ConfigError: ``other`` has other parameters.
        """
        self._check_mergeable(other)
        offset = 1 + max((document for document, _ in self._chunks), default=-1)
        moved = other.empty_like()
        moved._add(other)
        moved._chunks = {(document + offset, row): each for (document, row), each in moved._chunks.items()}
        self._add(moved)

    def remove(self, other: Self, kept: Mask | None) -> None:
        """Remove examples, in place, and renumber documents and rows without gaps.

        Args:
            other: log of the examples to remove.
            kept: whether to keep each example, bool (n_examples,), in order.
        """
        assert kept is not None
        arrays = self.arrays()
        places = arrays["places"]
        items = np.repeat(kept, places[:, 2])
        for column in self.columns:
            arrays[column] = arrays[column][items]
        for names in {each for each in self.columns.values() if each is not None}:
            self._drop_unused(arrays, names)
        arrays["places"] = _renumbered(places[kept])
        self._chunks.clear()
        self._restore(arrays)
        self._forget_rest(other)

    def renumber(self) -> None:
        """Renumber documents and rows without gaps, in place."""
        self.remove(self.empty_like(), np.ones(len(self.arrays()["places"]), bool))

    def first_replay_log(self) -> Self:
        """Return this log: it is the only replay log in these moments."""
        return self

    @abstractmethod
    def _forget_rest(self, forgotten: Self) -> None:
        """Remove the data of forgotten examples that a subclass stores besides the columns, such as counts.

        `remove` calls this method after it has removed the examples from the columns.

        Args:
            forgotten: log of the removed examples.
        """

    def _drop_unused(self, arrays: dict[str, Array], names: str) -> None:
        of = [column for column, each in self.columns.items() if each == names]
        used = np.unique(np.concatenate([arrays[column] for column in of]))
        used = used[used >= 0]
        all_names = unpack_names(arrays[names])
        arrays[names] = pack_names([all_names[number] for number in used.tolist()])
        for column in of:
            numbers = arrays[column]
            arrays[column] = np.where(numbers < 0, -1, np.searchsorted(used, numbers)).astype(numbers.dtype)


def places_of(sizes: Mapping[tuple[int, int], Iterable[int]]) -> NDArray[np.int64]:
    """Return the positions of examples: document, row in the document and number of items.

    Args:
        sizes: mapping from (document, row) of the first example of each batch to the number of items of each
            example of the batch.

    Returns:
        The array ``places``, int64 (n_examples, 3), sorted by document and row.
    """
    places = [
        (document, row, size)
        for (document, start), batch in sorted(sizes.items())
        for row, size in enumerate(batch, start)
    ]
    return np.array(places, np.int64).reshape(-1, 3)


def slices_of(places: NDArray[np.int64]) -> Iterator[tuple[tuple[int, int], slice]]:
    """Yield (document, row) of each example, and the slice of its items in the columns of a replay log."""
    begin = 0
    for document, row, size in places.tolist():
        yield (document, row), slice(begin, begin + size)
        begin += size


def pack_names(names: Any) -> Array:
    """Return names as one array of bytes, separated by NUL, which no name may contain."""
    return np.frombuffer("\0".join(names).encode(), np.uint8).copy()


def unpack_names(packed: Array) -> list[str]:
    """Return the names in an array of bytes that `pack_names` returned."""
    return packed.tobytes().decode().split("\0") if len(packed) else []


def checked_names(stored: StoredArrays, name: str) -> list[str]:
    """Return the names that are packed in a stored array.

    Raises:
        ModelError: the array is not UTF-8, or has a name twice.
    """
    packed = stored.take(name, int_array(f"n_bytes of {name}", dtype="uint8"))
    try:
        names = unpack_names(packed)
    except UnicodeDecodeError as error:
        raise stored.error(name, "is no UTF-8") from error
    if len(set(names)) != len(names):
        raise stored.error(name, "holds a name twice")
    return names


def _check_order(places: NDArray[np.int64], stored: StoredArrays) -> None:
    """Check that examples are sorted by document and row, and that all numbers are below 2^62.

    Args:
        places: document, row and number of items of each example, int64 (n_examples, 3).
        stored: all arrays of the file; their path is part of the error message.

    Raises:
        ModelError: the examples are not sorted, or a number is too large.
    """
    before, after = places[:-1], places[1:]
    rises = (after[:, 0] > before[:, 0]) | ((after[:, 0] == before[:, 0]) & (after[:, 1] > before[:, 1]))
    if not rises.all() or (places >= 1 << 62).any():
        raise stored.error("places", "does not hold documents and rows in their order")


def _renumbered(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the array ``places`` with documents and rows renumbered from 0, without gaps."""
    if not len(places):
        return places
    begins = np.append(True, places[1:, 0] != places[:-1, 0])
    document = np.cumsum(begins) - 1
    row = np.arange(len(places)) - np.flatnonzero(begins)[document]
    return np.column_stack([document, row, places[:, 2]]).astype(np.int64)
