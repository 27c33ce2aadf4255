"""Hyper-parameters of estimators, each declared once, as an annotated field: type, range, default and help.

A declaration looks like this::

    n_states: Annotated[int, Ge(1), Doc("States of a symbol (m).")] = 24

Everything else uses this declaration: the checks in ``fit``, the parsing of ``--set n_states=32``, presets,
``get_params``, the table of ``train ESTIMATOR --help`` and the reference page. Values are checked like those
of model folders (`spectralnlp.storage.values`).
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import json
import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import annotated_types
import numpy as np
from typing_extensions import Doc

from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError
from spectralnlp.storage import checked_value

_SEEDS = 2**31  # number of seeds to draw from

# Python's constants, and how JSON spells them.
_PYTHON_SPELLINGS = {"True": "true", "False": "false", "None": "null"}


class ShortSignature:
    """Descriptor for the ``__signature__`` of estimators: only names and defaults, for a readable ``help``.

    By default, ``help`` would show the whole annotation of every setting.
    """

    def __get__(self, instance: object, owner: type) -> inspect.Signature:
        declared = hyperparameters(owner)
        by_place = {field.name for field in dataclasses.fields(owner) if not field.kw_only}
        parameters = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=each.default)
            for name, each in declared.items()
        ]
        parameters = [
            each.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD) if each.name in by_place else each
            for each in parameters
        ]
        signature = inspect.Signature(sorted(parameters, key=lambda each: each.kind))
        if "__init__" in vars(owner):  # `help` shows this one as well
            init: Any = vars(owner)["__init__"]
            it = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
            init.__signature__ = signature.replace(parameters=[it, *signature.parameters.values()])
            init.__doc__ = "\n".join(
                ["Settings:", *(f"    {each.name}: {each.type}. {each.help}" for each in declared.values())]
            )
        return signature


@dataclass(frozen=True)
class Hyperparameter:
    """Declaration of one hyper-parameter.

    Attributes:
        name: name of the field.
        annotation: type, with constraints and help.
        default: default value.
        owner: name of the class that declares it, for messages.
    """

    name: str
    annotation: Any
    default: Any
    owner: str

    __repr__ = one_line

    @property
    def help(self) -> str:
        """Description of the hyper-parameter in one sentence; empty if the declaration has none."""
        notes = getattr(self.annotation, "__metadata__", ())
        return next((note.documentation for note in notes if isinstance(note, Doc)), "")

    @property
    def type(self) -> str:
        """Type and range in words, such as ``int, 1 or more``."""
        return _in_words(self.annotation)

    def accepts(self, value: object) -> bool:
        """Whether a value has the declared type and is in range; nothing is converted."""
        try:
            checked_value(self.annotation, _plain(value))
        except ValueError:
            return False
        return True

    def from_text(self, text: str) -> tuple[bool, Any]:
        """Parse a value: as JSON (``3``, ``true``, ``null``, ``[1, 2]``), otherwise as the text itself.

        Returns:
            Whether the value is valid, and the value.
        """
        readings = [_PYTHON_SPELLINGS.get(text, text), json.dumps(text)]
        for reading in readings:
            try:
                value = json.loads(reading)
                checked_value(self.annotation, value)
            except (ValueError, RecursionError):
                continue
            return True, value
        try:
            return False, json.loads(readings[0])
        except (ValueError, RecursionError):
            return False, text


def _plain(value: Any) -> Any:
    """Convert a numpy scalar to a Python number; return any other value unchanged."""
    return value.item() if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0 else value


@cache
def hyperparameters(cls: type) -> Mapping[str, Hyperparameter]:
    """Return the hyper-parameters that a class declares, by name and in order.

    A class that combines the settings of several classes lists those classes in its attribute ``parts``, and
    default values that differ from theirs in its attribute ``defaults``.

    Raises:
        TypeError: the class is not a dataclass.
    """
    defaults: Mapping[str, Any] = getattr(cls, "defaults", {})
    declared: dict[str, Hyperparameter] = {}
    for part in getattr(cls, "parts", (cls,)):
        hints = get_type_hints(part, include_extras=True)
        for field in dataclasses.fields(part):
            if field.init:
                default = defaults.get(field.name, _default(field))
                declared[field.name] = Hyperparameter(field.name, hints[field.name], default, part.__name__)
    return declared


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default is not dataclasses.MISSING else None


def check_values(cls: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """Check typed values, from Python, a preset or a configuration file.

    Args:
        cls: the estimator's class.
        values: value of each hyper-parameter, by name.

    Returns:
        The values, unchanged, but for a ``random_state`` from which a seed is drawn, see `drawn_seed`.

    Raises:
        ConfigError: there is no such hyper-parameter, or a value has the wrong type or is out of range. The
            message names the field, the value and what is expected.
    """
    declared = hyperparameters(cls)
    values = {name: drawn_seed(value) if name == "random_state" else value for name, value in values.items()}
    for name, value in values.items():
        _check_known(cls, name)
        if not declared[name].accepts(value):
            raise _refusal(declared[name], value)
    return values


def drawn_seed(random_state: Any) -> Any:
    """Return a new seed for None, or one that is drawn from a generator of numpy's; other values unchanged.

    Training is a function of the data and the settings, so that it can be repeated: what scikit-learn takes
    for any randomness becomes a number.

    Args:
        random_state: a seed; None; or a ``numpy.random.Generator`` or ``RandomState``, which moves on.
    """
    if random_state is None:
        random_state = np.random.default_rng()
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(_SEEDS))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    return random_state


def read_values(cls: type, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parse texts such as those of ``--set key=value`` and return their values.

    Args:
        cls: the estimator's class.
        texts: text for each hyper-parameter, by name.

    Raises:
        ConfigError: as for `check_values`.
    """
    declared = hyperparameters(cls)
    values = {}
    for name, text in texts.items():
        _check_known(cls, name)
        accepted, values[name] = declared[name].from_text(text)
        if not accepted:
            raise _refusal(declared[name], values[name])
    return values


def unknown_name(what: str, name: str, known: Iterable[str], cls: type) -> ConfigError:
    """Return the error to raise for an unknown name; its hint suggests the most similar known name.

    Args:
        what: what kind of thing the name should stand for, such as ``preset``.
        name: the unknown name.
        known: the names to choose from.
        cls: the estimator's class, for the message.
    """
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(names) or 'none'}"
    return ConfigError(f"{getattr(cls, 'display_name', cls.__name__)} has no {what} {name!r}", hint=hint)


def _check_known(cls: type, name: str) -> None:
    known = hyperparameters(cls)
    if name not in known:
        raise unknown_name("hyper-parameter", name, known, cls)


def _refusal(declared: Hyperparameter, value: object) -> ConfigError:
    return ConfigError(f"{declared.owner}.{declared.name}: got {value!r}, expected {declared.type}")


# ---------------------------------------------------------------------------------------------------------
# Types and ranges in words


def _in_words(annotation: Any) -> str:
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        bounds = [phrase for note in args[1:] if (phrase := _bound(note))]
        return ", ".join([_in_words(args[0]), *bounds])
    if origin in (Union, types.UnionType):
        return " or ".join(map(_in_words, args))
    if origin is Literal:
        return " or ".join(repr(each) for each in args)
    if annotation is types.NoneType:
        return "null"
    return str(annotation) if origin else getattr(annotation, "__name__", str(annotation))


def _bound(note: object) -> str:
    phrases: dict[type, Callable[[Any], str]] = {
        annotated_types.Ge: lambda each: f"{each.ge} or more",
        annotated_types.Gt: lambda each: f"above {each.gt}",
        annotated_types.Le: lambda each: f"at most {each.le}",
        annotated_types.Lt: lambda each: f"below {each.lt}",
    }
    phrase = phrases.get(type(note))
    return "" if phrase is None else phrase(note)
