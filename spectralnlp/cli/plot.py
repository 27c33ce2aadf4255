"""``spectralnlp plot``: draw word vectors in the plane."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def plot(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of word vectors.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="A picture, .png or .svg.")
    ] = Path("vectors.png"),
    words: Annotated[
        list[str] | None,
        typer.Option("--words", metavar="WORDS", help="Words of one colour between commas; repeatable."),
    ] = None,
) -> None:
    """Draw word vectors in two dimensions: those of pronouns, numbers, names and so on, or of given words."""
    from spectralnlp.cli.console import note
    from spectralnlp.cli.models import load_for
    from spectralnlp.render.plane import PICTURES, Picture, check_drawable, draw_words

    check_drawable(output)
    vectors = load_for(model, "most_similar", "be drawn")
    pictures: tuple[Picture, ...] = PICTURES
    if words:
        groups = [[each.strip() for each in text.split(",") if each.strip()] for text in words]
        pictures = (Picture("", {", ".join(group[:3]): group for group in groups}),)
    unknown = draw_words(vectors, pictures, output)
    if unknown:
        note(f"not in the vocabulary, left out: {', '.join(unknown)}")
    note(f"{output}: {len(pictures)} drawn")
