"""``spectralnlp diff``: what differs between the trees of two files, sentence by sentence.

Brackets of the first file only come after ``-``, those of the second only after ``+``; ``~`` is what moved.
"""

from __future__ import annotations

import json
import os
import sys
from itertools import zip_longest
from typing import Annotated

import typer

from spectralnlp.cli.console import results
from spectralnlp.cli.options import FileEncoding, OutputFile
from spectralnlp.errors import ConfigError, InputError


def diff(
    first: Annotated[str, typer.Argument(metavar="FIRST", help="Trees, such as those of a treebank.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="Trees of the same sentences.")],
    format_: Annotated[str, typer.Option("--format", metavar="NAME", help="text or json.")] = "text",
    context: Annotated[
        int, typer.Option("--context", min=0, metavar="N", help="Shared brackets around differences.")
    ] = 1,
    reader: Annotated[
        str, typer.Option("--reader", metavar="NAME", help="Reader of both; by default recognised.")
    ] = "auto",
    encoding: FileEncoding = None,
    output: OutputFile = None,
) -> None:
    """Show the brackets that differ between trees of the same sentences."""
    from spectralnlp_trees.cli.places import read_places
    from spectralnlp_trees.comparison.diff import diff as difference

    if format_ not in ("text", "json"):
        raise ConfigError(f"no output format {format_!r}", hint="choose from text, json")
    colour = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    sides = [read_places([file], reader, encoding, model=None, tokenized=False) for file in (first, second)]
    with results(output) as write:
        for number, (a, b) in enumerate(zip_longest(*sides), 1):
            if a is None or b is None:
                shorter = first if a is None else second
                raise InputError("the other file has more trees", path=shorter, sentence=number)
            try:
                found = difference(a.tree, b.tree)
            except InputError as error:
                raise InputError(error.what, path=second, sentence=number, hint=error.hint) from error
            if found and format_ == "json":
                write(json.dumps({"tree": number, **found.to_json()}, ensure_ascii=False))
            elif found:
                write(f"{number}: {' '.join(found.words)}\n{found.to_text(colour=colour, context=context)}\n")
