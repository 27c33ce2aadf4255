"""Display of values: a one-line ``repr``, an HTML table for notebooks, a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from html import escape
from reprlib import Repr
from types import MethodType
from typing import TYPE_CHECKING, Any

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    import pandas

# Maximum length of a ``repr`` in characters; tests/api/test_display.py allows 200.
LONGEST = 190


class _Short(Repr):
    """Formatter of field values on one line: truncates long values, shows dtype and shape of arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.maxtuple = self.maxlist = self.maxset = self.maxfrozenset = self.maxdict = 4
        self.maxstring = self.maxother = 60

    def repr1(self, x: Any, level: int) -> str:
        """Return the ``repr`` of a value; for an array, its dtype and shape."""
        if hasattr(x, "dtype") and getattr(x, "shape", ()) != ():
            return f"<{x.dtype} {'×'.join(map(str, x.shape))}>"
        return super().repr1(x, level)


_short = _Short()


def cut(text: str, length: int = LONGEST) -> str:
    """Return a text on one line, truncated with an ellipsis to ``length`` characters."""
    text = " ".join(text[: 2 * length].splitlines())
    return text if len(text) <= length else f"{text[: length - 1]}…"


def one_line(value: Any) -> str:
    """Return a dataclass's name and fields on one line; used as ``__repr__`` where fields may be long."""
    shown = ", ".join(
        f"{field.name}={_short.repr(getattr(value, field.name, None))}"
        for field in fields(value)
        if field.repr
    )
    return cut(f"{type(value).__name__}({shown})")


def exact(value: Any) -> str:
    """Return a value as text that is never truncated, unlike ``repr``, so that it can be hashed."""
    parts: list[Any]
    if isinstance(value, partial):
        parts = [value.func, *value.args, value.keywords]
    elif isinstance(value, MethodType):
        parts = [value.__self__, value.__name__]
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name) for field in fields(value) if field.compare]
    elif isinstance(value, Mapping):
        parts = list(value.items())
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif isinstance(value, str):
        return repr(value)
    else:
        return f"{type(value).__name__} {value}"
    return f"{type(value).__name__}({', '.join(map(exact, parts))})"


def html_table(rows: Iterable[tuple[str, object]], caption: str) -> str:
    """Return names and values as an HTML table with a caption."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(_in_cell(value))}</td></tr>"
        for name, value in rows
    )
    return f"<table><caption>{escape(caption)}</caption>{cells}</table>"


def _in_cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return cut(value if isinstance(value, str) else _short.repr(value))


def data_frame(columns: Mapping[str, Iterable[Any]]) -> pandas.DataFrame:
    """Return a data frame of named columns; imports pandas.

    Raises:
        ConfigError: pandas is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise ConfigError("data frames need pandas", hint="pip install pandas") from error
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})


class Report(ABC):
    """The result of `spectralnlp.evaluate`: scores by name.

    Every key of `to_flat_dict` is also an attribute. ``str`` returns the table.

    Examples:
        >>> import spectralnlp
        >>> parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg")
        >>> report = spectralnlp.evaluate(parser, "corpora/treebank/dev.mrg")
        >>> report.sentences, report.f1 == report.to_flat_dict()["f1"]
        (30, True)
    """

    @abstractmethod
    def to_table(self) -> str:
        """Return the scores as a plain-text table."""

    @abstractmethod
    def to_flat_dict(self) -> Mapping[str, Any]:
        """Return all scores as one flat dictionary; accuracies are in percent."""

    def to_frame(self) -> pandas.DataFrame:
        """Return the values of `to_flat_dict` as a data frame with one row.

        Raises:
            ConfigError: pandas is not installed.
        """
        return data_frame({name: [value] for name, value in self.to_flat_dict().items()})

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name not in getattr(type(self), "__dataclass_fields__", {}):
            values = self.to_flat_dict()
            if name in values:
                return values[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.to_flat_dict()})

    def __str__(self) -> str:
        return self.to_table()

    def __repr__(self) -> str:
        shown = (
            f"{name} {value:.2f}" if isinstance(value, float) else f"{name} {_short.repr(value)}"
            for name, value in self.to_flat_dict().items()
        )
        return cut(f"<{type(self).__name__}: {', '.join(shown)}") + ">"

    def _repr_html_(self) -> str:
        return html_table(self.to_flat_dict().items(), type(self).__name__)
