"""Command ``spectralnlp export spacy``: write eigenwords or a tagger as a spaCy pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

export = typer.Typer(help="Write models in the formats of other programs.", rich_markup_mode=None)


@export.callback()
def _group() -> None:
    """Write models in the formats of other programs."""


@export.command("spacy")
def spacy_pipeline(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Model of vectors, or tagger.")],
    output: Annotated[Path, typer.Argument(metavar="DIR", help="Folder to write.")],
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the words.")] = "en",
    attribute: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Where a tagger writes: ents, spans, pos or tag. By default ents if its tags are spans, pos "
            "if they are universal tags, else tag.",
        ),
    ] = None,
) -> None:
    """Write a blank spaCy pipeline with eigenwords as vectors, or with a tagger.

    Vectors are for `[initialize] vectors = "DIR"`; a pipeline with a tagger is for `spacy.load("DIR")`.
    """
    import spectralnlp
    from spectralnlp.cli.console import progress
    from spectralnlp.errors import ConfigError

    loaded = spectralnlp.load(model)
    if loaded.task not in ("vectors", "tagging"):
        raise ConfigError(f"a model for {loaded.task}, but vectors or a tagger are needed", path=model)
    if loaded.task == "vectors" and attribute is not None:
        raise ConfigError("vectors have no attribute", path=model, hint="leave --attribute out")
    with progress("exporting"):
        if loaded.task == "vectors":
            from spectralnlp_spacy.vectors import write_vectors

            n_words, dimensions = write_vectors(loaded, output, lang)
            written = f"{n_words:,} words, {dimensions} dimensions"
        else:
            from spectralnlp_spacy.pipelines import write_tagger

            written = f"a tagger that writes {write_tagger(model, output, lang, attribute)}"
    print(f"{output}: {written}")
