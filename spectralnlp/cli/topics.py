"""``spectralnlp topics``: print the topics of a model, or the topic mixtures of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spectralnlp.cli.formats import TABLE, Rows, TableFormat, check_format, write_rows
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
    format_: TableFormat = TABLE,
) -> None:
    """Show topics: their weights and words, or the topics of each document of FILE."""
    from spectralnlp import load

    check_format(format_)
    loaded = load(model)
    if loaded.task != "topics":
        raise ConfigError(f"{model} is a model for {loaded.task}, not of topics")
    if text is None:
        tops = [[word for word, _ in loaded.top_words(n, words)] for n in range(len(loaded.mixture.weights))]
        topics_ = [
            {"topic": topic, "weight": float(weight), "words": " ".join(top)}
            for topic, (weight, top) in enumerate(zip(loaded.mixture.weights, tops, strict=True))
        ]
        lines = (f"{each['topic']:>3}  {each['weight']:.3f}  {each['words']}" for each in topics_)
        write_rows(print, format_, topics_, table=lambda: "\n".join(lines))
        return
    from spectralnlp import registry
    from spectralnlp.runtime import rereadable

    task = registry.tasks.get("topics")()
    documents = task.read(rereadable([text]), text_column=text_column)
    show = Rows(print, format_)
    for number, document in enumerate(documents, 1):
        mixture = loaded.mixture_of(document)
        shown = [int(topic) for topic in (-mixture).argsort() if mixture[topic] >= least]
        if format_ == TABLE:
            print(f"{number}\t{' '.join(f'{topic}:{mixture[topic]:.2f}' for topic in shown)}")
            continue
        for topic in shown:
            show({"document": number, "topic": topic, "weight": float(mixture[topic])})
