"""Command ``spectralnlp diff``: show the differences between the trees of two files, or a file and a model.

A line marked ``-`` is a bracket in the first tree only, ``+`` one in the second only, ``~`` a moved node.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated

import typer

from spectralnlp.cli.console import results
from spectralnlp.cli.options import FileEncoding, OutputFile
from spectralnlp.errors import ConfigError, InputError
from spectralnlp_trees.cli.places import is_model, parsed_as, read_places

if TYPE_CHECKING:
    from spectralnlp.trees import Tree


def diff(
    first: Annotated[
        str, typer.Argument(metavar="FIRST", help="Trees, such as those of a treebank; or a model.")
    ],
    second: Annotated[
        str,
        typer.Argument(metavar="SECOND", help="Trees of the same sentences; or a model, which parses them."),
    ],
    format_: Annotated[str, typer.Option("--format", metavar="NAME", help="text or json.")] = "text",
    context: Annotated[
        int,
        typer.Option(
            "--context", min=0, metavar="N", help="Number of shared brackets shown around differences."
        ),
    ] = 1,
    reader: Annotated[
        str, typer.Option("--reader", metavar="NAME", help="Reader of both files; by default detected.")
    ] = "auto",
    encoding: FileEncoding = None,
    output: OutputFile = None,
) -> None:
    """Show the brackets that differ between trees of the same sentences."""
    from spectralnlp_trees.comparison.diff import diff as difference

    if format_ not in ("text", "json"):
        raise ConfigError(f"no output format {format_!r}", hint="choose from text, json")
    colour = output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ
    pairs = _pairs(first, second, reader, encoding)
    with results(output) as write:
        for number, (a, b) in enumerate(pairs, 1):
            if a is None or b is None:
                shorter = first if a is None else second
                raise InputError("the other file has more trees", path=shorter, sentence=number)
            try:
                changes = difference(a, b)
            except InputError as error:
                raise InputError(error.what, path=second, sentence=number, hint=error.hint) from error
            if changes and format_ == "json":
                write(json.dumps({"tree": number, **changes.to_json()}, ensure_ascii=False))
            elif changes:
                text = changes.to_text(colour=colour, context=context)
                write(f"{number}: {' '.join(changes.words)}\n{text}\n")


def _pairs(
    first: str, second: str, reader: str, encoding: str | None
) -> Iterator[tuple[Tree | None, Tree | None]]:
    """Yield pairs of trees to compare, one of each input.

    If one file has fewer trees than the other, None takes the place of its missing trees. If one input is a
    model, it parses the words of the trees in the other input; a tree without words is paired with itself.

    Args:
        first, second: two treebank files, or one treebank file and one model.
        reader: name of the treebank reader.
        encoding: encoding of the files; None for the reader's default.
    """
    models = [is_model(first), is_model(second)]
    if all(models):
        raise ConfigError(
            "two models, and nothing to parse", hint="give the trees of a treebank for one of them"
        )
    files = [each for each, model in zip((first, second), models, strict=True) if not model]
    sides = [
        (each.tree for each in read_places([file], reader, encoding, model=None, tokenized=False))
        for file in files
    ]
    if not any(models):
        yield from zip_longest(*sides)
        return
    trees = list(sides[0])
    parsed = parsed_as(trees, second if models[1] else first)
    for tree, parse in zip(trees, parsed, strict=True):
        other = tree if parse is None else parse
        yield (tree, other) if models[1] else (other, tree)
