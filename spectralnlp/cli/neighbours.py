"""``spectralnlp neighbours``: print the words whose vectors are nearest to those of given words."""

from __future__ import annotations

from typing import Annotated

import typer

from spectralnlp.cli.formats import JSON, TABLE, TableFormat, check_format, write_rows


def neighbours(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of word vectors.")],
    words: Annotated[
        list[str], typer.Argument(metavar="WORD", help="Words; unseen ones go by their spelling.")
    ],
    number: Annotated[int, typer.Option("--number", "-n", min=1, metavar="N", help="How many.")] = 10,
    among: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only among the N most frequent words.")
    ] = None,
    format_: TableFormat = TABLE,
) -> None:
    """Show the words that are used most similarly to given words."""
    from spectralnlp.cli.models import load_for

    check_format(format_)
    vectors = load_for(model, "most_similar", "find neighbours")
    found = {word: vectors.most_similar(word, number, among=among) for word in words}
    whole = [{"word": word, "known": word in vectors, "neighbours": near} for word, near in found.items()]
    rows = [
        {"word": word, "known": word in vectors, "neighbour": each, "cosine": cosine}
        for word, near in found.items()
        for each, cosine in near
    ]

    def table() -> str:
        marks = {word: "" if word in vectors else " (by its spelling)" for word in found}
        near = {word: "  ".join(f"{each} {cosine:.2f}" for each, cosine in found[word]) for word in found}
        return "\n".join(f"{word}{marks[word]}  {near[word]}" for word in found)

    write_rows(print, format_, whole if format_ == JSON else rows, table=table)
