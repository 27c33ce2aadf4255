"""What every learner has: hyper-parameters as plain attributes, presets, and ``fit``.

The conventions are scikit-learn's, so ``sklearn.base.clone`` and its friends work; nothing of it is
imported. What ``fit`` eats is a corpus of sentences or trees rather than a matrix.
"""

from __future__ import annotations

import difflib
import inspect
import json
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints

from spectralnlp.errors import ConfigError, NotFittedError
from spectralnlp.runtime import Corpus, Moments

Kind = Literal["spectral", "head"]
ChangeOfMind = Literal["exact", "replay", "merge-only", "none"]
#: How people from Python write what JSON spells otherwise.
_PYTHON_SPELLINGS = {"True": True, "False": False, "None": None}


class Estimator(ABC):
    """A learner: ``__init__`` stores hyper-parameters as they are, ``fit`` sets attributes ending in ``_``.

    Class attributes:
        kind: ``spectral`` (observe, merge, solve) or ``head`` (learns on one machine from features).
        change_of_mind: whether documents can be added and taken out after ``fit``: ``exact``, ``replay``,
            ``merge-only`` or ``none``.
        spills: whether counts go to disk where memory is limited (``use_memory``).
        task: name of the task that the estimator serves, ``parsing``.
        presets: named settings of hyper-parameters; what a preset leaves out keeps its default.
    """

    kind: ClassVar[Kind] = "spectral"
    change_of_mind: ClassVar[ChangeOfMind] = "none"
    spills: ClassVar[bool] = False
    task: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}

    @abstractmethod
    def fit(self, corpus: Corpus[Any], y: None = None) -> Self:
        """Learn from a corpus.

        Args:
            corpus: the examples; read as often as the method has passes.
            y: ignored; there for scikit-learn's convention.
        """

    def no_moments(self, corpus: Corpus[Any]) -> Moments[Any]:
        """Empty moments which, once a corpus is added, `solve` makes the fitted attributes from.

        They are what is kept of data, so that more can be added and some taken out (`spectralnlp.changes`).
        ``fit(corpus)`` is the same as ``solve(accumulate(no_moments(corpus), corpus))``.

        Args:
            corpus: for settings that its first examples decide, such as the language.

        Raises:
            ConfigError: this estimator learns from the examples themselves.
        """
        what = f"{type(self).__name__} learns from the examples themselves: there are no moments to keep"
        raise ConfigError(what, hint="train it again on all the data")

    def solve(self, moments: Any) -> None:
        """Set the fitted attributes from moments; see `no_moments`."""
        raise NotImplementedError(type(self).__name__)

    @classmethod
    def from_preset(cls, name: str, /, **overrides: object) -> Self:
        """An estimator with the settings of a preset, some of them overridden.

        Raises:
            ConfigError: there is no such preset or hyper-parameter.
        """
        if name not in cls.presets:
            raise _unknown("preset", name, cls.presets, cls)
        return cls(**check_params(cls, {**cls.presets[name], **overrides}))

    @classmethod
    def from_settings(cls, settings: Mapping[str, str]) -> Self:
        """An estimator from ``key=value`` texts; the key ``preset`` names a preset to start from.

        Raises:
            ConfigError: as `coerce_params` and `from_preset`.
        """
        settings = dict(settings)
        preset = settings.pop("preset", None)
        params = coerce_params(cls, settings)
        return cls(**params) if preset is None else cls.from_preset(preset, **params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Hyper-parameters by name; with ``deep``, those of nested estimators too, as ``outer__inner``."""
        params: dict[str, Any] = {}
        for name in _signature(type(self)):
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change hyper-parameters; ``outer__inner`` reaches into nested estimators.

        Raises:
            ConfigError: there is no hyper-parameter of that name; none has been changed.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise _unknown("hyper-parameter", name, known, type(self))
        # Short names first: a nested estimator is replaced before its own parameters are set.
        for name in sorted(params, key=lambda name: name.count("__")):
            outer, _, inner = name.partition("__")
            if inner:
                getattr(self, outer).set_params(**{inner: params[name]})
            else:
                setattr(self, name, params[name])
        return self

    def check_is_fitted(self) -> None:
        """Do nothing after ``fit``.

        Raises:
            NotFittedError: before it.
        """
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            raise NotFittedError(f"{type(self).__name__} is not fitted", hint="call fit first")

    def __repr__(self) -> str:
        defaults = {name: parameter.default for name, parameter in _signature(type(self)).items()}
        params = self.get_params(deep=False).items()
        changed = [f"{name}={value!r}" for name, value in params if repr(value) != repr(defaults[name])]
        return f"{type(self).__name__}({', '.join(changed)})"


_report_pass: ContextVar[Callable[[str], None] | None] = ContextVar("report_pass", default=None)


@contextmanager
def timed_passes(report: Callable[[str], None]) -> Iterator[None]:
    """Have the passes of every ``fit`` in this context reported, a line each."""
    token = _report_pass.set(report)
    try:
        yield
    finally:
        _report_pass.reset(token)


@contextmanager
def fit_pass(name: str) -> Iterator[None]:
    """Time one pass of a ``fit``, for whoever listens with `timed_passes`."""
    started = perf_counter()
    yield
    report = _report_pass.get()
    if report is not None:
        report(f"{name}: {perf_counter() - started:.1f} s")


def coerce_params(cls: type[Estimator], settings: Mapping[str, str]) -> dict[str, Any]:
    """Hyper-parameters from text, as in ``--set key=value``.

    A value is read as JSON (``3``, ``0.5``, ``true``, ``null``, ``[1, 2]``) if the hyper-parameter can be
    that, and as the text itself if it can be a string.

    Raises:
        ConfigError: there is no such hyper-parameter, or it cannot be that; names the field, what it got
            and what it expects.
    """
    expected = _expected_types(cls)
    params: dict[str, Any] = {}
    for name, text in settings.items():
        _check_known(cls, name)
        readings = [*_read_json(text), text]
        params[name] = next((each for each in readings if _fits(each, expected[name])), readings[0])
    return check_params(cls, params)


def check_params(cls: type[Estimator], params: Mapping[str, object]) -> dict[str, Any]:
    """Hyper-parameters that have a value already, from a preset or a configuration file, checked.

    Raises:
        ConfigError: as `coerce_params`.
    """
    expected = _expected_types(cls)
    for name, value in params.items():
        _check_known(cls, name)
        if not _fits(value, expected[name]):
            what = f"{cls.__name__}.{name}: got {value!r}, expected {_spell(expected[name])}"
            raise ConfigError(what)
    return dict(params)


def _signature(cls: type[Estimator]) -> dict[str, inspect.Parameter]:
    if cls.__init__ is object.__init__:
        return {}
    return dict(list(inspect.signature(cls.__init__).parameters.items())[1:])


def _check_known(cls: type[Estimator], name: str) -> None:
    if name not in _signature(cls):
        raise _unknown("hyper-parameter", name, _signature(cls), cls)


def _unknown(what: str, name: str, known: Iterable[str], cls: type[Estimator]) -> ConfigError:
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'none'}"
    return ConfigError(f"{cls.__name__} has no {what} {name!r}", hint=hint)


# ---------------------------------------------------------------------------------------------------------
# Types of hyper-parameters, as far as text and JSON can express them


def _expected_types(cls: type[Estimator]) -> dict[str, Any]:
    """The annotation of each hyper-parameter, or else the type of its default, or else Any."""
    try:
        hints = get_type_hints(cls.__init__)
    except NameError:  # an annotation that only type checkers can import
        hints = {}
    expected = {}
    for name, parameter in _signature(cls).items():
        default = parameter.default
        guess = Any if default is None or default is parameter.empty else type(default)
        expected[name] = hints.get(name, guess)
    return expected


def _read_json(text: str) -> list[object]:
    if text in _PYTHON_SPELLINGS:
        return [_PYTHON_SPELLINGS[text]]
    try:
        return [json.loads(text)]
    except ValueError:
        return []


def _fits(value: object, expected: Any) -> bool:
    """Whether a value is of a type: scalars, literals, unions, sequences and mappings are checked."""
    origin, args = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in args)
    if origin is Literal:
        return any(value == each and type(value) is type(each) for each in args)
    if expected in (None, types.NoneType):
        return value is None
    if expected is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if expected is int:
        return isinstance(value, int) and not isinstance(value, bool)
    if expected in (str, bool):
        return isinstance(value, expected)
    if (origin or expected) in (list, tuple, Sequence):
        items = [each for each in args if each is not Ellipsis]
        return isinstance(value, (list, tuple)) and (
            len(items) != 1 or all(_fits(each, items[0]) for each in value)
        )
    if (origin or expected) in (dict, Mapping):
        return isinstance(value, Mapping)
    return True


def _spell(expected: Any) -> str:
    origin, args = get_origin(expected), get_args(expected)
    if origin in (Union, types.UnionType):
        return " or ".join(_spell(each) for each in args)
    if origin is Literal:
        return " or ".join(repr(each) for each in args)
    if expected is types.NoneType:
        return "null"
    return str(expected) if origin else getattr(expected, "__name__", str(expected))
