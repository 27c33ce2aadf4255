"""``spectralnlp serve``: a page where one types a sentence and sees what the models make of it."""

from __future__ import annotations

from typing import Annotated

import typer


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="MODEL...", help="A spaCy pipeline, or spectralnlp models: a parser, a tagger, intents."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes one that is free.")] = 8000,
    k: Annotated[int, typer.Option(min=1, metavar="N", help="Trees shown of a sentence, at most.")] = 5,
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the text.")] = "en",
) -> None:
    """Show trees, confidence, alternatives, tags and intents in the browser; only for this machine."""
    from spectralnlp.cli.console import announced_kernels, note, progress
    from spectralnlp_spacy.serve.pipeline import load_pipeline
    from spectralnlp_spacy.serve.server import Server

    with announced_kernels(), progress("loading"):
        nlp = load_pipeline(models or ["en"], lang)
    with Server(nlp, port=port, k=k) as server:
        print(server.address, flush=True)
        note("stop with Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            note("stopped")
