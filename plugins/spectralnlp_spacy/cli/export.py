"""``spectralnlp export spacy``: eigenwords as vectors of a spaCy pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

export = typer.Typer(help="Write models in the form of other programs.", rich_markup_mode=None)


@export.callback()
def _group() -> None:
    """Write models in the form of other programs."""


@export.command("spacy")
def spacy_vectors(
    eigenwords: Annotated[str, typer.Argument(metavar="EIGENWORDS", help="A model folder of vectors.")],
    output: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the words.")] = "en",
) -> None:
    """Write eigenwords as a blank spaCy pipeline with vectors, for `[initialize] vectors = "DIR"`."""
    import spectralnlp
    from spectralnlp.cli.console import progress
    from spectralnlp.errors import ConfigError
    from spectralnlp_spacy.vectors import write_vectors

    model = spectralnlp.load(eigenwords)
    if model.task != "vectors":
        raise ConfigError(f"a model for {model.task}, and vectors are needed", path=eigenwords)
    with progress("exporting"):
        n_words, dimensions = write_vectors(model, output, lang)
    print(f"{output}: {n_words:,} words, {dimensions} dimensions")
