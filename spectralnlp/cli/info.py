"""``spectralnlp info``: describe this installation or one model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated

import typer

from spectralnlp.cli.formats import TABLE, TableFormat, check_format, write_rows


def info(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Name or folder of a model.")] = None,
    format_: TableFormat = TABLE,
) -> None:
    """Describe this installation, or one model."""
    from spectralnlp.cli.console import fields

    check_format(format_)
    about = _installation() if model is None else _about(model)
    write_rows(print, format_, _rows(about), table=partial(fields, about), values=lambda: about)


def _about(model: str) -> dict[str, object]:
    from spectralnlp import load
    from spectralnlp.changes.kept_moments import about_changes
    from spectralnlp.models import folder_of

    about = load(model).info
    return {**about, **about_changes(folder_of(model), about)}


def _rows(values: Mapping[str, object], inside: str = "") -> Iterator[dict[str, object]]:
    """Yield a row for each name and value; names in nested mappings are joined by dots.

    Args:
        values: maps names to values or to further mappings.
        inside: text to write before each name, such as ``about.``.
    """
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _rows(value, f"{inside}{name}.")
        else:
            yield {"name": f"{inside}{name}", "value": value}


def _installation() -> dict[str, object]:
    import platform
    from importlib.metadata import version

    from spectralnlp import __version__
    from spectralnlp.registry import registries

    names = {kind: ", ".join(each.bare_names()) for kind, each in registries.items()}
    libraries = ("numpy", "scipy", "numba")
    return {
        "spectralnlp": __version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
        **{kind: listed for kind, listed in names.items() if listed},
    }
