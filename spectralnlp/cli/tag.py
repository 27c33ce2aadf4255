"""``spectralnlp tag``: tag each word of a text, one sentence at a time.

Formats (``--format``): ``tagged`` (``word_TAG``, one sentence per line), ``conllu``, ``json`` (one object
per line).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from spectralnlp.cli.console import progress, results
from spectralnlp.cli.options import HERE, OutputFile, Work, command_options


@command_options("jobs engine scheduler checkpoint")
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
    work: Work = HERE,
    output: OutputFile = None,
) -> None:
    """Tag the words of text: parts of speech, chunks, entities."""
    from spectralnlp.cli.models import load_for
    from spectralnlp.cli.remote import TagToText, batches, cutter, tagged_text
    from spectralnlp.cli.texts import Meter, sentences, sources
    from spectralnlp.render.tags import tag_renderer

    tag_renderer(format_)  # an unknown format is refused before anything is read
    found = sources(files or [])
    meter = Meter(found)
    shown = output is None and sys.stdout.isatty()
    tasks: Iterable[Sequence[str]]
    here = work.engine_name is None and work.checkpoint is None
    if not here:
        to_text = TagToText.of(model, tokenized=tokenized, form=format_, scores=scores)
        tasks = to_text.results(to_text.cut(found, None if tokenized else cutter(model)))
    else:
        with progress(f"loading {model}"):
            tagger = load_for(model, "tag", "tag")
        stream = sentences(tagger.tokenizer, found, tokenized=tokenized, meter=meter)
        each_time = batches(stream, 1 if shown else TagToText.batch_size)
        tasks = (tagged_text(tagger, batch, format_, scores) for batch in each_time)
    with (
        work.running("tagging", kernels=here, meter=meter, silent=shown) as step,
        results(output) as write,
    ):
        for texts in tasks:
            write(*texts)
            for _ in texts:
                step()
