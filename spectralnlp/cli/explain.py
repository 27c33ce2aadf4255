"""``spectralnlp explain``: explain why a model chose a bracket, a tag or a label."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from spectralnlp.cli.changing import load_kept, read_documents
from spectralnlp.cli.models import load_for
from spectralnlp.cli.options import ModelName, OutputFile
from spectralnlp.errors import ConfigError

# For each question: the method that a model must have, with a verb for errors, and the valid options.
_NEEDED = {
    "--bracket": ("parse_tokens", "explain brackets"),
    "--token": ("tag_tokens", "explain tags"),
    "--text": ("classify", "explain labels"),
}
_MEANT = {
    "--bracket": {"--tokens", "--trees", "--recount"},
    "--token": {"--tokens", "--label"},
    "--text": {"--label"},
}


def explain(
    model: ModelName,
    tokens: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="The sentence, blanks between tokens: of a parser or a tagger."),
    ] = None,
    bracket: Annotated[
        tuple[int, int, str] | None,
        typer.Option(
            metavar="START END LABEL",
            help="Of a parser: tokens counted from 0, the end exclusive, and a phrase's label.",
        ),
    ] = None,
    token: Annotated[
        int | None, typer.Option(metavar="N", help="Of a tagger: the token whose tag it is, counted from 0.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Of a classifier: the text.")] = None,
    label: Annotated[
        str | None,
        typer.Option(
            metavar="LABEL", help="The tag, or the text's label; by default, the one that the model gives."
        ),
    ] = None,
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TREEBANK",
            help="What the parser was learned from, if counts were kept or to name files. Repeatable.",
        ),
    ] = None,
    limit: Annotated[
        int, typer.Option(min=1, metavar="N", help="Training examples, and features, on either side.")
    ] = 5,
    recount: Annotated[
        bool,
        typer.Option(
            "--recount", help="Of a parser: count again without each named tree, in place of an estimate."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
    output: OutputFile = None,
) -> None:
    """Explain why a sentence has a bracket, a token its tag, or a text its label.

    The answer lists the features that speak for the model's choice and those that speak for the best
    alternative, and the training examples with the most influence. Examples can be listed for a model that
    was trained with --keep-moments. A model of the estimator pcfg keeps only counts: give its training trees
    with --trees, or rules are listed instead of examples.
    """
    from spectralnlp.cli.console import results
    from spectralnlp.cli.kernels import announced_kernels

    question = _question(
        {"--bracket": bracket, "--token": token, "--text": text},
        {"--tokens": tokens, "--trees": trees, "--recount": recount or None, "--label": label},
    )
    found = load_for(model, *_NEEDED[question])
    with announced_kernels():
        if question == "--bracket":
            corpus = read_documents(load_kept(model, "explain"), trees) if trees else None
            words = _words(tokens)
            explanation = found.explain(words, bracket, trees=corpus, limit=limit, recount=recount)
        elif question == "--token":
            explanation = found.explain(_words(tokens), token, label, limit=limit)
        else:
            explanation = found.explain(text, label, limit=limit)
    with results(output) as write:
        write(json.dumps(explanation.to_json()) if as_json else explanation.to_text())


def _question(questions: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    """Return the option that says what to explain: ``--bracket``, ``--token`` or ``--text``.

    Args:
        questions: values of these three options by name; None if not given.
        others: values of all other options by name; None if not given.

    Raises:
        ConfigError: not exactly one of the three options was given, or another option does not apply to it.
    """
    asked = [option for option, value in questions.items() if value is not None]
    if len(asked) != 1:
        what = " and ".join(asked) + ": one question at a time" if asked else "no question"
        hint = "give --bracket for a parser, --token for a tagger, --text for a classifier"
        raise ConfigError(what, hint=hint)
    for option, value in others.items():
        if value is not None and option not in _MEANT[asked[0]]:
            raise ConfigError(f"{option} means nothing with {asked[0]}", hint="leave it out")
    return asked[0]


def _words(tokens: str | None) -> list[str]:
    if tokens is None or not tokens.split():
        raise ConfigError("--tokens has no token", hint="give a sentence, blanks between tokens")
    return tokens.split()
