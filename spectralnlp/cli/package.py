"""``spectralnlp package``: make a distribution for ``pip install`` from models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spectralnlp.cli.console import progress, say


def package(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Names or folders of models.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to make.")],
    licence: Annotated[
        str, typer.Option(metavar="SPDX", help="Licence of the models: that of what they learned from.")
    ],
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The distribution is spectralnlp-NAME; default: the first MODEL."),
    ] = None,
    tagger: Annotated[
        str | None, typer.Option(metavar="NAME", help="Tagger that the parsers listen to, by its name.")
    ] = None,
    keep_moments: Annotated[
        bool, typer.Option("--keep-moments", help="Take along what was kept, which reveals the text.")
    ] = False,
    moments: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL", help="Take along what a model kept, which is installed without; repeatable."
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the distribution of this name in DIR.")
    ] = False,
) -> None:
    """Make a distribution of models, to install by pip; they are stored in half precision."""
    from spectralnlp.tasks.distribution import write_distribution

    with progress("packaging"):
        sizes = write_distribution(
            models,
            output,
            licence=licence,
            name=name,
            tagger=tagger,
            keep_moments=keep_moments,
            moments=moments or (),
            overwrite=overwrite,
        )
    listed = ", ".join(f"{each} ({size / 1e6:.1f} MB)" for each, size in sizes.items())
    say(f"{output}: {listed}; install with: pip install {output if output.is_absolute() else f'./{output}'}")
