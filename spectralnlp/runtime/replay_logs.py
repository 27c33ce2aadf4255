"""Replay logs: examples in order as integers, for methods whose later passes depend on all of the data.

Sums of a second pass that were projected by an SVD of the first cannot be subtracted. A replay log is smaller
than the text and larger than sums: enough to run the passes again, without what was taken out, or with more
at the end.
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
    """Examples in the order of documents and rows; merging lays them side by side.

    A subclass keeps runs of examples under their place, and writes them as columns of integers (`arrays`):
    ``places``, int64 (n_examples, 3), document, row and number of items of each example, in order; the names
    of words or labels; and `columns` with a number for each item.
    """

    # Arrays with a row for each item, and the array of names that each numbers (-1: none); None for others.
    columns: ClassVar[Mapping[str, str | None]]

    # Batches that were observed, by document and row of the first example.
    _chunks: dict[tuple[int, int], Any]

    def check_arrays(self, stored: StoredArrays) -> None:
        """Examples must be in order, each column as long as their items, and its numbers those of names."""
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
        """Dtype and range of a column's array; numbers of names, as a rule."""
        return int_array("n_items")

    def append(self, other: Self) -> None:
        """Add documents after ours, in place.

        Raises:
            ConfigError: the two differ in a parameter.
        """
        self._check_mergeable(other)
        offset = 1 + max((document for document, _ in self._chunks), default=-1)
        moved = other.empty_like()
        moved._add(other)
        moved._chunks = {(document + offset, row): each for (document, row), each in moved._chunks.items()}
        self._add(moved)

    def take_out(self, other: Self, kept: Mask | None) -> None:
        """Leave out examples, in place; documents and rows are numbered again, without gaps.

        Args:
            other: the log of the examples that go.
            kept: bool (n_examples,), in order: whether each example stays.
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
        without = self.restored(arrays)
        without._forget_rest(other)
        self.__dict__.update(without.__dict__)

    def renumber(self) -> None:
        """Number documents and rows without gaps, in place."""
        self.take_out(self.empty_like(), np.ones(len(self.arrays()["places"]), bool))

    def first_log(self) -> Self:
        """Return this log itself."""
        return self

    @abstractmethod
    def _forget_rest(self, forgotten: Self) -> None:
        """Take the examples out of all that is stored beside the columns."""

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
    """The array ``places`` of a replay log.

    Args:
        sizes: numbers of items of the examples of each batch, by document and row of its first example.
    """
    places = [
        (document, row, size)
        for (document, start), batch in sorted(sizes.items())
        for row, size in enumerate(batch, start)
    ]
    return np.array(places, np.int64).reshape(-1, 3)


def slices_of(places: NDArray[np.int64]) -> Iterator[tuple[tuple[int, int], slice]]:
    """Yield the document and row of each example, and where its items lie in the columns of a replay log."""
    begin = 0
    for document, row, size in places.tolist():
        yield (document, row), slice(begin, begin + size)
        begin += size


def pack_names(names: Any) -> Array:
    """Write names as one array of bytes; none of them holds a NUL."""
    return np.frombuffer("\0".join(names).encode(), np.uint8).copy()


def unpack_names(packed: Array) -> list[str]:
    """Read the names of `pack_names`."""
    return packed.tobytes().decode().split("\0") if len(packed) else []


def checked_names(stored: StoredArrays, name: str) -> list[str]:
    """The names in an array of a file.

    Raises:
        ModelError: it is no UTF-8, or a name is there twice.
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
    """Refuse places that are not in order of documents and rows, or too many items."""
    before, after = places[:-1], places[1:]
    rises = (after[:, 0] > before[:, 0]) | ((after[:, 0] == before[:, 0]) & (after[:, 1] > before[:, 1]))
    if not rises.all() or (places >= 1 << 62).any():
        raise stored.error("places", "does not hold documents and rows in their order")


def _renumbered(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Number documents and rows from 0, without gaps."""
    if not len(places):
        return places
    begins = np.append(True, places[1:, 0] != places[:-1, 0])
    document = np.cumsum(begins) - 1
    row = np.arange(len(places)) - np.flatnonzero(begins)[document]
    return np.column_stack([document, row, places[:, 2]]).astype(np.int64)
