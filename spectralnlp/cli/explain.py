"""``spectralnlp explain``: the training trees that a bracket is from."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from spectralnlp.cli.options import ModelName, OutputFile
from spectralnlp.errors import ConfigError


def explain(
    model: ModelName,
    tokens: Annotated[str, typer.Option(metavar="TEXT", help="The sentence, blanks between tokens.")],
    bracket: Annotated[
        tuple[int, int, str],
        typer.Option(
            metavar="START END LABEL", help="Tokens counted from 0, the end exclusive, and a phrase's label."
        ),
    ],
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TREEBANK",
            help="What the parser was learned from, if counts were kept or to name files. Repeatable.",
        ),
    ] = None,
    most: Annotated[int, typer.Option(min=1, metavar="N", help="Trees in favour, and trees against.")] = 5,
    recount: Annotated[
        bool, typer.Option("--recount", help="Count again without each named tree, in place of an estimate.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    output: OutputFile = None,
) -> None:
    """Name the training trees that did most for a bracket, and against it.

    The parser must have been trained with --keep-moments.
    """
    from spectralnlp.cli.changing import load_kept, read_documents
    from spectralnlp.cli.console import announced_kernels, results
    from spectralnlp.cli.models import load_for

    parser = load_for(model, "parse_tokens", "explain brackets")
    if not tokens.split():
        raise ConfigError("--tokens has no token", hint="give a sentence, blanks between tokens")
    with announced_kernels():
        corpus = read_documents(load_kept(model, "explain"), trees) if trees else None
        explanation = parser.explain(tokens.split(), bracket, trees=corpus, most=most, recount=recount)
    with results(output) as write:
        write(json.dumps(explanation.to_json()) if as_json else explanation.to_text())
