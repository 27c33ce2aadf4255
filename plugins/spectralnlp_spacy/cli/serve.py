"""Command ``spectralnlp serve``: show the analysis of texts on a page in the browser."""

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
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
    ] = 8000,
    k: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum number of trees per sentence.")] = 5,
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the text.")] = "en",
    workers: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Number of processes that analyse texts, each with its own models."
        ),
    ] = 2,
    seconds: Annotated[
        float, typer.Option(min=0.1, metavar="N", help="Maximum time to analyse a text.")
    ] = 10.0,
    max_characters: Annotated[int, typer.Option(min=1, metavar="N", help="Maximum length of a text.")] = 2000,
    max_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum number of tokens of a text.")
    ] = 1000,
) -> None:
    """Show trees, confidence, alternatives, tags and intents in the browser, on this machine only."""
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
