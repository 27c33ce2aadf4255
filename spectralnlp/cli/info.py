"""``spectralnlp info``: this installation, or one model."""

from __future__ import annotations

from typing import Annotated

import typer


def info(
    model: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Name or folder of a model.")] = None,
) -> None:
    """Show what is installed, or what a model is."""
    from spectralnlp.cli.console import fields

    if model is None:
        print(fields(_installation()))
        return
    from spectralnlp import load
    from spectralnlp.changes.kept import about_changes
    from spectralnlp.models import folder_of

    about = load(model).info
    print(fields({**about, **about_changes(folder_of(model), about)}))


def _installation() -> dict[str, object]:
    import platform
    from importlib.metadata import version

    from spectralnlp import __version__
    from spectralnlp.registry import registries

    names = {kind: ", ".join(each.names()) for kind, each in registries.items()}
    libraries = ("numpy", "scipy", "numba")
    return {
        "spectralnlp": __version__,
        "python": platform.python_version(),
        **{library: version(library) for library in libraries},
        **{kind: listed for kind, listed in names.items() if listed},
    }
