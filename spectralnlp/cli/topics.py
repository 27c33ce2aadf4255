"""``spectralnlp topics``: the topics of a model, or the mixtures of them in documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spectralnlp.cli.options import TextColumn
from spectralnlp.errors import ConfigError


def topics(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model of topics.")],
    text: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Documents, one a line: show their mixtures.")
    ] = None,
    words: Annotated[int, typer.Option(min=1, metavar="N", help="Top words of each topic.")] = 10,
    text_column: TextColumn = None,
    least: Annotated[
        float,
        typer.Option(min=0, max=1, metavar="P", help="Of FILE: leave out topics of a smaller part."),
    ] = 0.1,
) -> None:
    """Show topics: their weights and words, or the topics of each document of FILE."""
    from spectralnlp import load

    loaded = load(model)
    if loaded.task != "topics":
        raise ConfigError(f"{model} is a model for {loaded.task}, not of topics")
    if text is None:
        for topic, weight in enumerate(loaded.mixture.weights):
            listed = " ".join(word for word, _ in loaded.top_words(topic, words))
            print(f"{topic:>3}  {weight:.3f}  {listed}")
        return
    from spectralnlp import registry
    from spectralnlp.runtime import rereadable

    task = registry.tasks.get("topics")()
    documents = task.read(rereadable([text]), text_column=text_column)
    for number, document in enumerate(documents, 1):
        mixture = loaded.mixture_of(document)
        shown = [f"{topic}:{mixture[topic]:.2f}" for topic in (-mixture).argsort() if mixture[topic] >= least]
        print(f"{number}\t{' '.join(shown)}")
