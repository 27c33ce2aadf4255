"""``spectralnlp tag``: text in, a tag for each word out, a sentence at a time.

Formats (``--format``): ``tagged``, ``word_TAG``, a sentence a line; ``conllu``; ``json``, an object a line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import announced_kernels, progress, results

if TYPE_CHECKING:
    from spectralnlp.text.tokens import Sentence

_BATCH = 512


def tag(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Text files, .gz too; none, or -, is standard input."),
    ] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME|PATH", help="The tagger.")
    ] = "en-tagger",
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="One sentence a line, blanks between tokens.")
    ] = False,
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="tagged, conllu or json.")
    ] = "tagged",
    scores: Annotated[bool, typer.Option("--scores", help="Add how probable each tag is.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")
    ] = None,
) -> None:
    """Tag the words of text: parts of speech, chunks, entities."""
    from spectralnlp.cli.models import load_for
    from spectralnlp.cli.texts import sentences, sources
    from spectralnlp.render.tags import tag_renderer

    render = tag_renderer(format_)
    found = sources(files or [])
    with progress(f"loading {model}"):
        tagger = load_for(model, "tag", "tag")
    stream = sentences(tagger.tokenizer, found, tokenized=tokenized)
    shown = output is None and sys.stdout.isatty()
    with announced_kernels(), results(output) as write, progress("tagging", silent=shown) as step:
        for batch in _batches(stream, 1 if shown else _BATCH):
            for sentence, tags, confidence in _tagged(tagger, batch, scores):
                write("" if sentence is None else render(sentence, tags, tagger.scheme, confidence))
                step()


def _batches(stream: Iterable[Sentence | None], size: int) -> Iterator[list[Sentence | None]]:
    sentences = iter(stream)
    while batch := list(islice(sentences, size)):
        yield batch


def _tagged(
    tagger: Any, batch: Sequence[Sentence | None], scores: bool
) -> Iterator[tuple[Sentence | None, Sequence[str], Sequence[float] | None]]:
    """Each sentence with its tags, and with ``scores`` how probable they are; None stays None."""
    words = [sentence.forms for sentence in batch if sentence is not None]
    tags = iter(tagger.tag(words))
    confidence = iter(tagger.confidence(words) if scores else [None] * len(words))
    for sentence in batch:
        yield (None, (), None) if sentence is None else (sentence, next(tags), next(confidence))
