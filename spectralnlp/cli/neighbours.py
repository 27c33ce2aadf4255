"""``spectralnlp neighbours``: the words whose vectors are nearest."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def neighbours(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="Folder of word vectors.")],
    words: Annotated[
        list[str], typer.Argument(metavar="WORD", help="Words; unseen ones go by their spelling.")
    ],
    number: Annotated[int, typer.Option("--number", "-n", min=1, metavar="N", help="How many.")] = 10,
    among: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only among the N most frequent words.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a word, a line each.")] = False,
) -> None:
    """Show the words that are used most like others."""
    from spectralnlp.cli.models import load_for

    vectors = load_for(model, "most_similar", "find neighbours")
    found = {word: vectors.most_similar(word, number, among=among) for word in words}
    for word, near in found.items():
        if as_json:
            known = word in vectors
            print(json.dumps({"word": word, "known": known, "neighbours": near}, ensure_ascii=False))
        else:
            mark = "" if word in vectors else " (by its spelling)"
            print(f"{word}{mark}  " + "  ".join(f"{each} {cosine:.2f}" for each, cosine in near))
