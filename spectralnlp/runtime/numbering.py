"""Names as numbers, for what is logged as columns of integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError


class Numbering(dict[str, int]):
    """Numbers of names: ``numbering[name]`` is the name's number, the next free one if the name is new.

    Names are stored as UTF-8 with a NUL between them (`pack_names`): a new one that holds a NUL or a lone
    surrogate raises an InputError.
    """

    @classmethod
    def of(cls, names: Iterable[str]) -> Numbering:
        """Number names in their order."""
        return cls({name: number for number, name in enumerate(names)})

    def __deepcopy__(self, memo: object) -> Numbering:
        """A numbering of its own: names and numbers never change, and need no copies."""
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
        """The names in alphabetical order, and int32 (n_names + 1,): the rank of each number, -1 of -1."""
        ordered = sorted(self)
        rank = {name: i for i, name in enumerate(ordered)}
        return tuple(ordered), np.array([*(rank[name] for name in self), -1], np.int32)

    def numbers_of(self, other: Mapping[str, int]) -> NDArray[np.int32]:
        """int32 (n_names + 1,): what each number of another numbering is here, -1 of -1; names are added."""
        return np.array([*(self[name] for name in other), -1], np.int32)
