"""Validation of the JSON values of models, and of settings: type and range of each value are checked.

A value is declared by a type annotation (``tuple[str, ...]``, ``float``, ``int | None``,
``Literal["a", "b"]``, a dataclass of such fields), with bounds from `annotated_types`::

    threshold: Annotated[float, Ge(0), Le(1)]
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Le, Lt

from spectralnlp.display import one_line
from spectralnlp.errors import ModelError, SpectralError

_HINT = "copy or train the model again"
_NOUNS = {str: "a string", bool: "true or false", int: "a whole number", float: "a number", NoneType: "null"}
_SHOWN = 40  # most characters of a value that a message shows


@dataclass(frozen=True)
class Matching:
    """Constraint for an annotated string type: the whole string must match a regular expression.

    Attributes:
        pattern: the regular expression.
    """

    pattern: str

    __repr__ = one_line


class _UnfitError(Exception):
    """Error for a JSON value of the wrong type or out of range.

    Args:
        where: keys and positions that lead to the value.
        what: the error as a predicate, such as ``is missing``.
    """

    def __init__(self, where: tuple[object, ...], what: str) -> None:
        self.where, self.what = where, what


class StoredValues(Mapping[str, Any]):
    """The values of a JSON object in a model folder, each of which is validated when it is read.

    Indexing by name, as in any mapping, returns a value without validation.

    Args:
        values: the JSON object, as a mapping.
        path: the file, for messages.
        where: path to the object within the file, such as ``grammar_sets.0.``, for messages.

    Raises:
        ModelError: ``values`` is not an object.
    """

    def __init__(self, values: Any, path: Path | None = None, *, where: str = "") -> None:
        self.path, self.where = path, where
        if not isinstance(values, Mapping):
            raise self.error("", f"is {_shown(values)}, not an object")
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def take(self, name: str, kind: Any, default: Any = MISSING) -> Any:
        """Return a validated value; lists become tuples, objects become dataclasses if ``kind`` is one.

        Args:
            name: key of the value.
            kind: type of the value, as an annotation.
            default: the result if the value is missing. Without it, a missing value is an error.

        Raises:
            ModelError: the value is missing, of another type or out of range. The message names the file and
                the value.
        """
        if name not in self._values:
            if default is not MISSING:
                return default
            raise self.lacking(name)
        try:
            return _checker(kind)(self._values[name])
        except _UnfitError as unfit:
            place = ".".join([name, *map(str, unfit.where)])
            raise self.error(place, unfit.what) from None

    def fields(self, cls: type, *names: str) -> dict[str, Any]:
        """Return values by name, validated by the annotations of a dataclass.

        Args:
            cls: the dataclass.
            names: names of its fields to return, which are also the keys of the values.

        Raises:
            ModelError: as for `take`.
        """
        hints = _hints_of(cls)
        return {name: self.take(name, hints[name]) for name in names}

    def indices(self, name: str, *, below: int) -> tuple[int, ...]:
        """Return the list of integers under a key, each of which must be at least 0 and less than ``below``.

        Raises:
            ModelError: the value is missing, or not such a list.
        """
        numbers: tuple[int, ...] = self.take(name, tuple[int, ...])
        if not all(0 <= number < below for number in numbers):
            raise self.error(name, f"holds a number that is not from 0 to {below - 1}")
        return numbers

    def part(self, name: str) -> StoredValues:
        """Return the JSON object under a key, as `StoredValues`."""
        return StoredValues(self.take(name, Any), self.path, where=f"{self.where}{name}.")

    def parts(self, name: str) -> list[StoredValues]:
        """Return the JSON objects in the list under a key, as `StoredValues`."""
        listed = enumerate(self.take(name, tuple[Any, ...]))
        return [StoredValues(each, self.path, where=f"{self.where}{name}.{i}.") for i, each in listed]

    def updated(self, values: Mapping[str, Any]) -> StoredValues:
        """Return a copy of this object in which some values are replaced or added."""
        return StoredValues({**self._values, **values}, self.path, where=self.where)

    def about(self) -> dict[str, Any]:
        """Return the JSON object ``about``, which says how a model was trained.

        Raises:
            ModelError: ``about`` is missing, or it or its ``parameters`` are not an object.
        """
        about = self.take("about", Mapping[str, Any])
        StoredValues(about, self.path, where=f"{self.where}about.").take("parameters", Mapping[str, Any], {})
        return dict(about)

    def error(self, name: str, what: str) -> ModelError:
        """Return the error for an invalid value.

        Args:
            name: key of the value; empty for the object itself.
            what: the error as a predicate, such as ``is missing``.
        """
        return ModelError(self._said(name, what), path=self.path, hint=_HINT)

    def lacking(self, name: str) -> ModelError:
        """Return the error for a missing value."""
        return self.error(name, "is missing")

    def _said(self, name: str, what: str) -> str:
        place = f"{self.where}{name}".rstrip(".") or "of the model"
        return f"value {cut(place)} {what}"


def checked_value(kind: Any, value: Any) -> Any:
    """Return a validated value; lists become tuples, objects become dataclasses if ``kind`` is one.

    Args:
        kind: type of the value, as an annotation.
        value: the value.

    Raises:
        ValueError: the value is of another type or out of range.
    """
    try:
        return _checker(kind)(value)
    except _UnfitError as unfit:
        raise ValueError(f"{'.'.join(map(str, unfit.where))} {unfit.what}".strip()) from None


def _shown(value: Any) -> str:
    """Return a short text for a value in messages, such as ``a list`` for any list."""
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**_SHOWN:
        return f"a number of {value.bit_length()} bits"
    return cut(repr(value))


def cut(text: str, most: int = _SHOWN) -> str:
    """Truncate a text for a message to at most ``most`` characters."""
    return text if len(text) <= most else f"{text[:most]}…"


# ---------------------------------------------------------------------------------------------------------
# Validators by type


Checker = Callable[[Any], Any]


@cache
def _hints_of(cls: Any) -> Mapping[str, Any]:
    return get_type_hints(cls, include_extras=True)


@cache
def _checker(kind: Any) -> Checker:
    """Return the function that validates and converts values of a type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind in (Any, object):
        return lambda value: value
    if kind in _NOUNS:
        return _SCALARS[kind]
    if origin is Annotated:
        return _bounded(_checker(arguments[0]), arguments[1:])
    if origin is Literal:
        return lambda value: _one_of(value, arguments)
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return _strings if arguments[0] is str else _list_of(_checker(arguments[0]))
    if origin is tuple:
        return _row_of(tuple(map(_checker, arguments)))
    if origin is Sequence:
        return _strings if arguments[0] is str else _list_of(_checker(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _object_of(_checker(arguments[1]))
    if origin in (list, set, frozenset):
        return _collection_of(origin, _checker(arguments[0]))
    if is_dataclass(kind):
        return lambda value: _record(kind, value)
    return _instance_of(origin or kind)


def _unfit(value: Any, noun: str) -> _UnfitError:
    return _UnfitError((), f"is {_shown(value)}, not {noun}")


def _plain(kind: type) -> Checker:
    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise _unfit(value, _NOUNS[kind])
        return value

    return check


def _float(value: Any) -> float:
    if type(value) is int and abs(value) < 1 << 1000:
        return float(value)
    if type(value) is not float or not math.isfinite(value):
        raise _unfit(value, "a finite number")
    return value


_SCALARS: Mapping[Any, Checker] = {
    **{kind: _plain(kind) for kind in (str, bool, int, NoneType)},
    float: _float,
}


def _one_of(value: Any, choices: tuple[Any, ...]) -> Any:
    if not isinstance(value, str | int | None) or value not in choices:
        raise _unfit(value, " or ".join(map(repr, choices)))
    return value


def _union(arguments: tuple[Any, ...]) -> Checker:
    """Return a function that validates a value by the first of several types that it fits.

    If the value fits none, the function raises the error of the last type.
    """
    checkers = [_checker(each) for each in arguments if each is not NoneType]
    has_null = NoneType in arguments

    def check(value: Any) -> Any:
        if value is None and has_null:
            return None
        for checker in checkers[:-1]:
            with suppress(_UnfitError):
                return checker(value)
        return checkers[-1](value)

    return check


def _bounded(checker: Checker, bounds: tuple[Any, ...]) -> Checker:
    def check(value: Any) -> Any:
        value = checker(value)
        for bound in bounds:
            match bound:
                case Matching(pattern) if re.fullmatch(pattern, value) is None:
                    raise _unfit(value, f"of the form {pattern}")
                case Ge(least) if not value >= least:
                    raise _UnfitError((), f"is {_shown(value)}, which is less than {least}")
                case Gt(least) if not value > least:
                    raise _UnfitError((), f"is {_shown(value)}, which is not above {least}")
                case Le(most) if not value <= most:
                    raise _UnfitError((), f"is {_shown(value)}, which is more than {most}")
                case Lt(most) if not value < most:
                    raise _UnfitError((), f"is {_shown(value)}, which is not below {most}")
        return value

    return check


def _listed(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise _unfit(value, "a list")
    return value


def _strings(value: Any) -> tuple[str, ...]:
    """Validate a list of strings, fast enough for a large vocabulary."""
    if not set(map(type, _listed(value))) <= {str}:
        return _list_of(_SCALARS[str])(value)
    return tuple(value)


def _list_of(checker: Checker) -> Checker:
    def check(value: Any) -> tuple[Any, ...]:
        return tuple(_inside(place, checker, each) for place, each in enumerate(_listed(value)))

    return check


def _collection_of(kind: type[Collection[Any]], checker: Checker) -> Checker:
    def check(value: Any) -> Any:
        if not isinstance(value, kind):
            raise _unfit(value, f"a {kind.__name__}")
        for place, each in enumerate(value):
            _inside(place, checker, each)
        return value

    return check


def _instance_of(kind: type) -> Checker:
    def check(value: Any) -> Any:
        if not isinstance(value, kind):
            raise _unfit(value, f"an instance of {kind.__name__}")
        return value

    return check


def _row_of(checkers: tuple[Checker, ...]) -> Checker:
    def check(value: Any) -> tuple[Any, ...]:
        if len(_listed(value)) != len(checkers):
            raise _UnfitError((), f"has {len(value)} values, not {len(checkers)}")
        pairs = enumerate(zip(checkers, value, strict=True))
        return tuple(_inside(place, checker, each) for place, (checker, each) in pairs)

    return check


def _object_of(checker: Checker) -> Checker:
    def check(value: Any) -> dict[str, Any]:
        if not isinstance(value, Mapping):
            raise _unfit(value, "an object")
        return {name: _inside(name, checker, each) for name, each in value.items()}

    return check


def _inside(place: object, checker: Checker, value: Any) -> Any:
    try:
        return checker(value)
    except _UnfitError as unfit:
        raise _UnfitError((place, *unfit.where), unfit.what) from None


def _record(cls: Any, value: Any) -> Any:
    """Build a dataclass from the fields of a JSON object; missing fields get their defaults."""
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise _unfit(value, "an object")
    hints = _hints_of(cls)
    required = {
        each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING
    }
    if unknown := sorted(map(str, value.keys() - {each.name for each in fields(cls)})):
        raise _UnfitError((), f"has an unknown field {cut(unknown[0])!r}")
    if missing := sorted(required - value.keys()):
        raise _UnfitError((missing[0],), "is missing")
    checked = {name: _inside(name, _checker(hints[name]), each) for name, each in value.items()}
    try:
        return cls(**checked)
    except SpectralError as error:
        raise _UnfitError((), f"is refused: {cut(error.what)}") from None
