"""Moments: sums over a corpus that can be merged and, if exact, subtracted."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from spectralnlp.errors import ConfigError
from spectralnlp.runtime.corpus import Batch
from spectralnlp.runtime.stored_moments import check_like, stored_parameters
from spectralnlp.storage import StoredArrays, StoredValues

T = TypeVar("T")
Array: TypeAlias = npt.NDArray[Any]
Mask: TypeAlias = npt.NDArray[np.bool_]

FAN_IN = 8  # default of `Moments.fan_in`


class Moments(ABC, Generic[T]):
    """Base class of moments: sums over examples, so that moments of parts of a corpus can be merged.

    A subclass takes its parameters (sizes, vocabularies, projections) as keyword arguments of ``__init__``,
    keeps them as attributes of the same names, and starts empty: ``cls(**parameters)`` is the neutral element
    of `merge`. Estimators compute the parameters of models from moments.

    A subclass whose state is arrays of fixed shapes implements `arrays` and `observe`; a subclass with
    another state also overrides `_add`, `_remove` and `_restore`.

    Examples:
        >>> from spectralnlp import InMemoryCorpus
        >>> from spectralnlp.estimators.eigenwords import PairCounts
        >>> from spectralnlp.runtime import accumulate
        >>> ours = accumulate(PairCounts(window=1), InMemoryCorpus([["a", "b"]]))
        >>> theirs = accumulate(PairCounts(window=1), InMemoryCorpus([["b", "c"]]))
        >>> ours.merge(theirs)
        >>> ours.n_tokens
        4
    """

    # Whether `subtract` undoes `merge` exactly, as it does for integer counts, but not for sums of floats.
    subtractable: ClassVar[bool] = False
    # Name of the pass that accumulates these moments, for progress reports.
    pass_name: str = "counts"
    # Number of examples that `accumulate` observes at a time; sums of floats depend on it.
    batch_size: ClassVar[int] = 256
    # Number of neighbours merged at each level of the tree in which `accumulate` merges parts.
    fan_in: int = FAN_IN

    @property
    def is_spilled(self) -> bool:
        """Whether part of the state is on disk, so that `arrays` may not fit in memory."""
        return False

    @abstractmethod
    def observe(self, batch: Batch[T]) -> None:
        """Add the sums over a batch of examples, in place."""

    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments by name, JSON values or arrays.

        They are read from the attributes of the same names; a subclass that keeps an argument in another form
        overrides this. Only moments with equal parameters can be merged.
        """
        return {name: getattr(self, name) for name in _arguments_of(type(self))}

    @abstractmethod
    def arrays(self) -> dict[str, Array]:
        """Return the sums as arrays by name, to store them or to send them to another process.

        Equal moments have equal bytes. The arrays are not copied, unless a subclass says otherwise.
        """

    @property
    def can_forget(self) -> bool:
        """Whether data that was added to the moments can be removed by `remove`."""
        return self.subtractable

    @classmethod
    def from_arrays(cls, parameters: Mapping[str, Any], arrays: Mapping[str, Array]) -> Self:
        """Rebuild moments from their parameters and sums.

        Args:
            parameters: the parameters, as `parameters` returned them.
            arrays: the sums, as `arrays` returned them.
        """
        moments = cls(**parameters)
        moments._restore(arrays)
        return moments

    def empty_like(self) -> Self:
        """Return empty moments with the same parameters."""
        return self.with_parameters(self.parameters())

    def with_parameters(self, parameters: Mapping[str, Any]) -> Self:
        """Return empty moments of this class with other parameters."""
        return type(self)(**parameters)

    def with_stored_parameters(self, values: StoredValues) -> Self:
        """Return empty moments of this class with parameters that were read from a file.

        Each value must have the type that the constructor declares. Integer parameters must be equal to those
        of this object; other parameters, such as a vocabulary, may differ, since they depend on the data.

        Raises:
            ModelError: a parameter is missing, unknown or invalid.
            SpectralError: the constructor rejects the parameters.
        """
        return self.with_parameters(stored_parameters(type(self), self.parameters(), values))

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check that arrays read from a file are valid sums of moments with the parameters of this object.

        The base class requires finite arrays with the dtypes and shapes of those of empty moments. Subclasses
        whose arrays vary in shape override this method.

        Raises:
            ModelError: an array is invalid; the message says which, and why.
        """
        check_like(stored, self.arrays())

    def restored(self, arrays: Mapping[str, Array]) -> Self:
        """Return moments with the parameters of this object and other sums.

        Args:
            arrays: the sums, as `arrays` returned them.
        """
        moments = self.empty_like()
        moments._restore(arrays)
        return moments

    def merge(self, other: Self) -> None:
        """Add the moments of another part of the data, in place.

        Raises:
            ConfigError: ``other`` has another class or other parameters. The message names the difference.
        """
        self._check_mergeable(other)
        self._add(other)

    def subtract(self, other: Self) -> None:
        """Subtract the moments of data that was observed or merged before, in place.

        Raises:
            ConfigError: this class cannot subtract (see `subtractable`), or ``other`` has other parameters.
        """
        if not self.subtractable:
            hint = "train again without the data"
            raise ConfigError(f"{type(self).__name__} can grow and merge but not forget", hint=hint)
        self._check_mergeable(other)
        self._remove(other)

    def append(self, other: Self) -> None:
        """Add the moments of data that comes after the data seen so far, in place.

        For sums this is the same as `merge`. In replay logs, which store the examples themselves, the new
        examples follow the old ones.

        Raises:
            ConfigError: as for `merge`.
        """
        self.merge(other)

    def remove(self, other: Self, kept: Mask | None) -> None:
        """Remove the moments of some data, in place.

        Sums are subtracted as by `subtract`. Replay logs (stored examples) drop the examples.

        Args:
            other: moments of the data to remove.
            kept: for replay logs, whether to keep each example, bool (n_examples,); None if there is no log.

        Raises:
            ConfigError: as for `subtract`.
        """
        self.subtract(other)

    def renumber(self) -> None:
        """Renumber the documents of replay logs (stored examples) without gaps, in place.

        Sums have no documents, so the base class does nothing.
        """

    def first_replay_log(self) -> Moments[Any] | None:
        """Return a replay log (stored examples) that these moments contain, or None if they have only sums.

        All replay logs in `Joint` moments have the same examples, and the first one is returned.
        """
        return None

    def _add(self, other: Self) -> None:
        theirs = other.arrays()
        for name, array in self.arrays().items():
            array += theirs[name]

    def _remove(self, other: Self) -> None:
        theirs = other.arrays()
        for name, array in self.arrays().items():
            array -= theirs[name]

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        for name, array in self.arrays().items():
            array[...] = arrays[name]

    def _check_mergeable(self, other: Moments[Any]) -> None:
        if type(self) is not type(other):
            raise ConfigError(f"cannot merge {type(self).__name__} with {type(other).__name__}")
        ours, theirs = self.parameters(), other.parameters()
        for name in {**ours, **theirs}:
            if not _equal(ours.get(name), theirs.get(name)):
                what = f"{name}: {_brief(ours.get(name))} and {_brief(theirs.get(name))}"
                raise ConfigError(f"cannot merge {type(self).__name__} that differ in {what}")


@cache
def _arguments_of(cls: type[Moments[Any]]) -> tuple[str, ...]:
    return tuple(inspect.signature(cls).parameters)


def _equal(left: object, right: object) -> bool:
    if isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        return np.array_equal(np.asarray(left), np.asarray(right))
    return left == right


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


class Joint(Moments[T]):
    """Several moments objects, combined so that one pass over the examples computes all of them.

    Args:
        parts: moments by name; the methods of this object change them in place.
    """

    def __init__(self, parts: Mapping[str, Moments[T]]) -> None:
        self.parts = dict(parts)

    @property
    def pass_name(self) -> str:  # type: ignore[override]
        """Name of the pass over the data in progress reports, taken from the first part."""
        return next(iter(self.parts.values())).pass_name

    @property
    def fan_in(self) -> int:  # type: ignore[override]
        """Number of neighbouring partial sums to merge at a time: the maximum over the parts."""
        return max(part.fan_in for part in self.parts.values())

    @property
    def can_forget(self) -> bool:
        """Whether data can be removed from all parts."""
        return all(part.can_forget for part in self.parts.values())

    def observe(self, batch: Batch[T]) -> None:
        """Add the sums over a batch of examples to each part."""
        for part in self.parts.values():
            part.observe(batch)

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of each part, by name of the part."""
        return {name: part.parameters() for name, part in self.parts.items()}

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of all parts, with names of the form ``part.array``."""
        return {
            f"{name}.{key}": each for name, part in self.parts.items() for key, each in part.arrays().items()
        }

    def empty_like(self) -> Self:
        """Return a copy in which all `parts` are empty."""
        return type(self)({name: part.empty_like() for name, part in self.parts.items()})

    def with_parameters(self, parameters: Mapping[str, Any]) -> Self:
        """Return a copy in which all `parts` are empty and have other parameters, given by name."""
        return type(self)({n: part.with_parameters(parameters[n]) for n, part in self.parts.items()})

    def with_stored_parameters(self, values: StoredValues) -> Self:
        """Return a copy in which all `parts` are empty and have parameters read from a file."""
        parts = self.parts.items()
        return type(self)({n: part.with_stored_parameters(values.part(n)) for n, part in parts})

    def check_arrays(self, stored: StoredArrays) -> None:
        """Check that arrays read from a file are valid sums of each part."""
        for name, part in self.parts.items():
            part.check_arrays(stored.part(f"{name}."))

    def subtract(self, other: Self) -> None:
        """Subtract the moments of some data from each part; an error may leave some parts changed."""
        self._check_mergeable(other)
        for name, part in self.parts.items():
            part.subtract(other.parts[name])

    def append(self, other: Self) -> None:
        """Add the moments of later data to each part."""
        self._check_mergeable(other)
        for name, part in self.parts.items():
            part.append(other.parts[name])

    def remove(self, other: Self, kept: Mask | None) -> None:
        """Remove the moments of some data from each part; an error may leave some parts changed."""
        self._check_mergeable(other)
        for name, part in self.parts.items():
            part.remove(other.parts[name], kept)

    def renumber(self) -> None:
        """Renumber the documents of each part that is a replay log, without gaps."""
        for part in self.parts.values():
            part.renumber()

    def first_replay_log(self) -> Moments[Any] | None:
        """Return the first replay log (stored examples) among the parts; None if no part is one."""
        return next((log for part in self.parts.values() if (log := part.first_replay_log())), None)

    def _add(self, other: Self) -> None:
        for name, part in self.parts.items():
            part.merge(other.parts[name])

    def _restore(self, arrays: Mapping[str, Array]) -> None:
        for name, part in self.parts.items():
            start = f"{name}."
            own = {key.removeprefix(start): each for key, each in arrays.items() if key.startswith(start)}
            part._restore(own)

    def _check_mergeable(self, other: Moments[Any]) -> None:
        if not isinstance(other, Joint) or list(other.parts) != list(self.parts):
            super()._check_mergeable(other)
            raise ConfigError(f"cannot merge {list(self.parts)} with {list(cast(Self, other).parts)}")
        for name, part in self.parts.items():
            part._check_mergeable(other.parts[name])
