"""Declaration and validation of the arrays of models: dtype, shape and range, checked on loading.

A dataclass field declares its array in the annotation::

    tags: Annotated[Ints, int_array("n_rows", below="n_symbols")]

A named size, such as ``n_rows``, has the same value in all arrays of an object. It is given when reading
begins, or set by the first array whose shape contains it; later arrays must agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from spectralnlp.display import one_line
from spectralnlp.errors import ModelError

Array = NDArray[Any]
Arrays = dict[str, Array]
# A number, the name of a size, or a name plus a number: "n_words + 1".
Size = int | str

# Larger numbers are rejected: no estimator learns them, and kernels in single precision would overflow.
LARGEST = 1e18

# A model is rejected if it needs more than EXPANSION numbers in memory for each number in its file, unless it
# needs MIN_EXPANDED numbers or fewer.
EXPANSION, MIN_EXPANDED = 256, 1 << 26

_HINT = "copy or train the model again"


@dataclass(frozen=True, kw_only=True)
class ArraySpec:
    """Declared dtype, shape and range of a model's array; see `float_array`, `int_array`, `offset_array`.

    A named size, such as ``n_rows``, has the same value in all arrays of an object.

    Attributes:
        shape: the size of each axis: a number, a named size, or a named size plus a number (``n_rows + 1``).
        dtype: name of the dtype in memory.
        stored: names of the dtypes that the array may have in a file.
        least: the smallest allowed value; None for no bound.
        most: the largest allowed absolute value, checked if ``finite``; None for no bound.
        below: a size that all values must be less than.
        into: for offsets, the size at which they must end; they start at 0 and never decrease.
        ascending: whether values must increase strictly; rows of a matrix are compared lexicographically.
        ascending_within: name of an array of offsets; values must increase strictly within each segment.
        finite: whether NaN and infinities are rejected.
        minus_infinity: whether minus infinity is allowed even if ``finite``.
        scaled: whether an array that is stored as float16 is multiplied on loading by its scale, which is
            stored as the array ``<name>.scale``.
        optional: whether the array may be missing.
    """

    shape: tuple[Size, ...]
    dtype: str
    stored: tuple[str, ...]
    least: float | None = None
    most: float | None = None
    below: Size | None = None
    into: Size | None = None
    ascending: bool = False
    ascending_within: str | None = None
    finite: bool = False
    minus_infinity: bool = False
    scaled: bool = False
    optional: bool = False

    __repr__ = one_line


def float_array(
    *shape: Size,
    dtype: str = "float64",
    stored: tuple[str, ...] = ("float16", "float32"),
    least: float | None = None,
    most: float | None = LARGEST,
    minus_infinity: bool = False,
    scaled: bool = False,
) -> ArraySpec:
    """Declare an array of finite floating-point numbers, by default stored as float32 or float16.

    See `ArraySpec` for the arguments.
    """
    return ArraySpec(
        shape=shape,
        dtype=dtype,
        stored=stored,
        least=least,
        most=most,
        finite=True,
        minus_infinity=minus_infinity,
        scaled=scaled,
    )


def int_array(
    *shape: Size,
    dtype: str = "int32",
    stored: tuple[str, ...] = (),
    least: int = 0,
    below: Size | None = None,
    ascending: bool = False,
    ascending_within: str | None = None,
) -> ArraySpec:
    """Declare an array of integers, by default nonnegative; see `ArraySpec` for the arguments.

    By default, the array has the same dtype in a file as in memory.
    """
    return ArraySpec(
        shape=shape,
        dtype=dtype,
        stored=stored or (dtype,),
        least=least,
        below=below,
        ascending=ascending,
        ascending_within=ascending_within,
    )


def offset_array(size: Size, *, into: Size) -> ArraySpec:
    """Declare an int64 array of offsets, which begin at 0 and never decrease.

    Args:
        size: length of the array, as a number or a named size (see `ArraySpec`).
        into: number that the last offset must equal: the length of the array that the offsets divide.
    """
    return ArraySpec(shape=(size,), dtype="int64", stored=("int64",), least=0, into=into)


def specs_of(cls: type) -> Mapping[str, ArraySpec]:
    """Return the array declarations in the annotations of a dataclass, by field name, in order."""
    return _specs_of(cls)


@cache
def _specs_of(cls: Any) -> Mapping[str, ArraySpec]:
    specs = {}
    for name, hint in get_type_hints(cls, include_extras=True).items():
        if get_origin(hint) is Annotated:
            annotated, *extras = get_args(hint)
            for spec in extras:
                if isinstance(spec, ArraySpec):
                    specs[name] = replace(spec, optional=type(None) in get_args(annotated))
    return specs


def arrays_of(value: object) -> Arrays:
    """Return the declared arrays of an object by name, as they are stored: float64 becomes float32."""
    fields = {name: getattr(value, name) for name in specs_of(type(value))}
    return {name: narrowed(array) for name, array in fields.items() if array is not None}


def narrowed(array: Array) -> Array:
    """Convert a float64 array to float32, as it is stored; return any other array unchanged."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


class WithArrays:
    """Base class of dataclasses whose array fields, declared with an `ArraySpec`, are stored."""

    def to_arrays(self) -> Arrays:
        """Return the declared array fields by name, for storage: float64 arrays are converted to float32."""
        return arrays_of(self)


def with_prefix(prefix: str, arrays: Mapping[str, Array]) -> Arrays:
    """Return arrays with a prefix added to their names."""
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def not_repeated(arrays: Mapping[str, Array], first: Mapping[str, Array]) -> Arrays:
    """Return the arrays that a model folder does not yet store under the same name, to save space.

    Args:
        arrays: arrays by name.
        first: arrays by name, of another object in the same folder.

    Returns:
        The items of ``arrays`` that are not in ``first`` or differ from the array of that name there.
    """
    return {
        name: array
        for name, array in arrays.items()
        if not (name in first and array.dtype == first[name].dtype and np.array_equal(array, first[name]))
    }


class StoredArrays:
    """Arrays of a model folder, each of which is validated when it is read.

    Args:
        arrays: all arrays of a file, by name.
        path: the file, for messages.
        prefix: prefix of the names of these arrays in the file.
        fallback: second prefix. If an array is missing under ``prefix``, the array with this prefix is used
            (see `not_repeated`). None if there are no such arrays.
        sizes: values of named sizes, such as ``n_rows``, that are known before arrays are read.
    """

    def __init__(
        self,
        arrays: Mapping[str, Array],
        path: Path | None = None,
        *,
        prefix: str = "",
        fallback: str | None = None,
        sizes: Mapping[str, int] | None = None,
    ) -> None:
        self.path, self.prefix, self.fallback = path, prefix, fallback
        self.sizes = dict(sizes or {})
        self._arrays = arrays

    def __contains__(self, name: str) -> bool:
        return self._stored(name) is not None

    def _stored(self, name: str) -> Array | None:
        """Return an array as it is in the file; None if it is missing."""
        array = self._arrays.get(self.prefix + name)
        return array if array is not None or self.fallback is None else self._arrays.get(self.fallback + name)

    def part(self, prefix: str = "", *, fallback: str | None = None, **sizes: int) -> StoredArrays:
        """Return the arrays of one part of the model, whose names begin with a further prefix.

        Named sizes that are set by arrays of this part do not apply to other parts.

        Args:
            prefix: text that follows the present prefix in the names of the part's arrays.
            fallback: full prefix of arrays to use in place of missing ones; see `not_repeated`.
            sizes: further sizes by name, such as ``n_rows``, that shapes of the arrays refer to.
        """
        if fallback is None and self.fallback is not None:
            fallback = self.fallback + prefix
        known = {**self.sizes, **sizes}
        return StoredArrays(
            self._arrays, self.path, prefix=self.prefix + prefix, fallback=fallback, sizes=known
        )

    def all(self) -> Arrays:
        """Return all arrays whose names begin with the prefix, without validation; names lose the prefix."""
        start = self.prefix
        return {name[len(start) :]: each for name, each in self._arrays.items() if name.startswith(start)}

    def fields(self, cls: type, *, leave_out: tuple[str, ...] = ()) -> dict[str, Any]:
        """Return the validated arrays for the fields of a dataclass, by name.

        Optional arrays that the file lacks are left out.

        Args:
            cls: the dataclass, whose annotations declare the arrays.
            leave_out: names of fields whose arrays are not read.

        Raises:
            ModelError: as for `take`.
        """
        wanted = {name: spec for name, spec in specs_of(cls).items() if name not in leave_out}
        return {
            name: self.take(name, spec) for name, spec in wanted.items() if not spec.optional or name in self
        }

    def field(self, cls: type, name: str) -> Array:
        """Return the validated array for one field of a dataclass; see `take`."""
        return self.take(name, specs_of(cls)[name])

    def take(self, name: str, spec: ArraySpec) -> Array:
        """Return an array after validation, converted from the dtype in the file to the declared one.

        Args:
            name: name without the prefix.
            spec: declaration of the array.

        Raises:
            ModelError: the array is missing or not as declared. The message names the file and the array.
        """
        array = self._stored(name)
        if array is None:
            what = f"array {self.prefix + name} is missing"
            raise ModelError(what, path=self.path, hint=_HINT)
        dtype = array.dtype.name
        if dtype not in spec.stored:
            raise self.error(name, f"is of {dtype}, not {' or '.join(spec.stored)}")
        self._check_shape(name, array, spec.shape)
        if spec.into is not None:
            self._check_offsets(name, array, spec.into)
        if dtype != spec.dtype:
            array = self._widened(name, array, spec)
        if spec.finite and not _is_finite(array, spec):
            beyond = "" if spec.most is None else f" or a number beyond {spec.most:g}"
            raise self.error(name, f"holds a NaN, an infinity{beyond}")
        if array.size:
            self._check_range(name, array, spec)
        if spec.ascending and not _rises(array):
            raise self.error(name, "does not rise from each row to the next")
        if spec.ascending_within is not None:
            offsets = self._stored(spec.ascending_within)
            if offsets is None or not _rises_between(array, offsets):
                raise self.error(name, f"does not rise between {spec.ascending_within}")
        return array

    def take_narrow(self, name: str, spec: ArraySpec) -> tuple[Array, float]:
        """Return an array after validation, in the dtype of the file, and the scale by which to multiply it.

        Raises:
            ModelError: as for `take`.
        """
        array = self._stored(name)
        has_scale = spec.scaled and array is not None and array.dtype == np.float16
        scale = float(self.take(f"{name}.scale", _SCALE)[0]) if has_scale else 1.0
        stored = spec.dtype if array is None else array.dtype.name
        return self.take(name, replace(spec, dtype=stored, scaled=False)), scale

    def check_expansion(self, name: str, n_numbers: float, n_stored: int) -> None:
        """Reject an array that would need far more memory than it occupies in the file.

        Args:
            name: name without the prefix.
            n_numbers: number of elements that the array will have in memory.
            n_stored: number of elements that it has in the file.

        Raises:
            ModelError: ``n_numbers`` exceeds both `MIN_EXPANDED` and `EXPANSION` times ``n_stored``.
        """
        if n_numbers > max(MIN_EXPANDED, EXPANSION * n_stored):
            raise self.error(name, f"holds {n_stored:,} numbers and asks for memory for {n_numbers:.3g}")

    def error(self, name: str, what: str) -> ModelError:
        """Return the error for an invalid array.

        Args:
            name: name without the prefix.
            what: the error as a predicate, such as ``is empty``.
        """
        return ModelError(f"array {self.prefix + name} {what}", path=self.path, hint=_HINT)

    def _check_shape(self, name: str, array: Array, shape: tuple[Size, ...]) -> None:
        fits = array.ndim == len(shape) and all(
            length == self._settled(name, size, length)
            for length, size in zip(array.shape, shape, strict=True)
        )
        if not fits:
            wanted = ", ".join(self._spelled(size) for size in shape)
            raise self.error(name, f"is of shape {array.shape}, not ({wanted})")

    def _settled(self, name: str, size: Size, length: int) -> int:
        """Return the length that an axis must have.

        Args:
            name: name of the array, for errors.
            size: declared size: a number, a named size, or a named size plus a number (``n_rows + 1``).
            length: length that the axis has. If the named size has no value yet, it gets the value that makes
                this length valid.
        """
        if isinstance(size, int):
            return size
        key, _, more = size.partition(" + ")
        if self.sizes.setdefault(key, length - int(more or 0)) < 0:
            raise self.error(name, "is empty")
        return self.sizes[key] + int(more or 0)

    def _spelled(self, size: Size) -> str:
        if isinstance(size, int) or size.partition(" + ")[0] not in self.sizes:
            return str(size)
        return f"{size} = {self._settled('', size, 0)}"

    def _check_offsets(self, name: str, array: Array, into: Size) -> None:
        if array[0] != 0 or (array[1:] < array[:-1]).any():
            raise self.error(name, "does not hold offsets that rise from 0")
        end = self._settled(name, into, int(array[-1]))
        if array[-1] != end:
            raise self.error(name, f"holds offsets that end at {array[-1]}, not at {into}, {end}")

    def _widened(self, name: str, array: Array, spec: ArraySpec) -> Array:
        if not (spec.scaled and array.dtype == np.float16):
            return array.astype(spec.dtype)
        return array.astype(spec.dtype) * self.take(f"{name}.scale", _SCALE)

    def _check_range(self, name: str, array: Array, spec: ArraySpec) -> None:
        if spec.least is not None and (found := array.min()) < spec.least:
            raise self.error(name, f"holds {found}, which is less than {spec.least}")
        if spec.below is not None:
            bound = self.sizes[spec.below] if isinstance(spec.below, str) else spec.below
            if (found := array.max()) >= bound:
                raise self.error(name, f"holds {found}, which is not below {spec.below}, {bound}")


_SCALE = float_array(1, dtype="float32", stored=("float32",), least=0.0)


def _is_finite(array: Array, spec: ArraySpec) -> bool:
    """Return whether all numbers are finite (or minus infinity, if allowed) and not too large."""
    if spec.most is None or array.dtype == np.float16 or not array.size:
        return bool((array < np.inf if spec.minus_infinity else np.isfinite(array)).all())
    least = -np.inf if spec.minus_infinity else -spec.most
    return bool(array.max() <= spec.most and array.min() >= least)  # both are NaN if a number is


def _rises_between(array: Array, offsets: Array) -> bool:
    rises = array[1:] > array[:-1]
    rises[offsets[(offsets > 0) & (offsets < len(array))] - 1] = True  # a new segment begins
    return bool(rises.all())


def _rises(array: Array) -> bool:
    if array.ndim == 1:
        return bool((array[1:] > array[:-1]).all())
    keys = np.zeros(len(array), np.int64)  # combine the two or three small numbers of a row
    for column in array.T:
        keys = keys * (int(array.max(initial=0)) + 1) + column
    return _rises(keys)
