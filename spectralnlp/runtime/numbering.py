"""Integer ids of names, for logs of examples that are stored as columns of integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spectralnlp.errors import InputError


class Numbering(dict[str, int]):
    """Ids of names: ``numbering[name]`` is the name's id; a new name gets the next free one.

    Names are stored as UTF-8 separated by NUL (`pack_names`), so that a new name with a NUL or a lone
    surrogate raises an InputError.
    """

    @classmethod
    def of(cls, names: Iterable[str]) -> Numbering:
        """Return a numbering of distinct names in the given order, from 0."""
        return cls({name: number for number, name in enumerate(names)})

    def __deepcopy__(self, memo: object) -> Numbering:
        """Return an independent copy; names and ids are immutable and need not be copied."""
        return Numbering(self)

    def __missing__(self, name: str) -> int:
        try:
            storable = b"\0" not in name.encode()
        except UnicodeEncodeError:
            storable = False
        if not storable:
            raise InputError(f"text that cannot be kept: {name[:40]!r}", hint="leave out NUL and surrogates")
        number = self[name] = len(self)
        return number

    def ranked(self) -> tuple[tuple[str, ...], NDArray[np.int32]]:
        """Return the sorted names, and an array that converts ids to ranks in the sorted order.

        The array is int32 (n_names + 1,), indexed by id; the last entry is -1, so that the id -1 (no name)
        stays -1.
        """
        ordered = sorted(self)
        rank = {name: i for i, name in enumerate(ordered)}
        return tuple(ordered), np.array([*(rank[name] for name in self), -1], np.int32)

    def numbers_of(self, other: Mapping[str, int]) -> NDArray[np.int32]:
        """Return an array that converts ids of another numbering to ids of this one, to merge two logs.

        Names that this numbering lacks are added to it. The array is int32 (n_names + 1,), indexed by id of
        the other numbering; the last entry is -1, so that the id -1 (no name) stays -1.
        """
        return np.array([*(self[name] for name in other), -1], np.int32)


def offsets_of(sizes: ArrayLike) -> NDArray[np.int64]:
    """Return the start of each of n concatenated arrays, then their total size, int64 (n + 1,).

    Args:
        sizes: integers (n,), the size of each array.
    """
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
