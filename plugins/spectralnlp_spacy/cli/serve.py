"""``spectralnlp serve``: a page where one types a sentence and sees what the models make of it."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL...", help="A spaCy pipeline, or spectralnlp models: a parser, taggers, intents."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    k: Annotated[int, typer.Option(min=1, metavar="N", help="Trees shown of a sentence, at most.")] = 5,
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the text.")] = "en",
    workers: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="Processes that analyse texts, each with all models."),
    ] = 2,
    seconds: Annotated[float, typer.Option(min=0.1, metavar="N", help="Longest analysis of a text.")] = 10.0,
    max_characters: Annotated[int, typer.Option(min=1, metavar="N", help="Longest text.")] = 2000,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Most tokens of a text.")] = 1000,
) -> None:
    """Show trees, confidence, alternatives, tags and intents in the browser; only for this machine."""
    from spectralnlp.cli.console import note
    from spectralnlp_spacy.serve.limits import Limits
    from spectralnlp_spacy.serve.server import Server

    limits = Limits(characters=max_characters, tokens=max_tokens, seconds=seconds, workers=workers)
    server = Server(models or ["en"], port=port, k=k, lang=lang, limits=limits)

    def announce() -> None:
        print(server.address, flush=True)
        note("stop with Ctrl-C")

    try:
        server.run(announce)
    except KeyboardInterrupt:
        note("stopped")
