"""``spectralnlp parse``: text in, trees out, one sentence at a time.

Formats (``--format``):

- ``ptb``: one bracketed tree a line; with ``--scores`` two more columns after tabs, the
  log-probability and ``label:start:end=posterior`` of each constituent (token offsets);
  with ``--k N`` the N best trees, ``tree <TAB> score``, and a blank line after each sentence's;
- ``pretty``: a drawing of each tree in plain text;
- ``json``: one object a line, described by ``spectralnlp/render/parse.schema.json``;
- ``svg``: one SVG document a line, or with ``-o DIR`` one file a sentence.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spectralnlp.cli.console import announced_kernels, note, progress, results
from spectralnlp.cli.engines import CheckpointFolder, EngineName, Scheduler, Where, faults
from spectralnlp.errors import ConfigError, InputError

if TYPE_CHECKING:
    from spectralnlp.model.parser import Parser
    from spectralnlp.text.tokens import Sentence

STDIN = "-"


def parse(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Text files, .gz too; none, or -, is standard input."),
    ] = None,
    model: Annotated[str, typer.Option("--model", "-m", metavar="NAME|PATH", help="The parser.")] = "en",
    tokenized: Annotated[
        bool, typer.Option("--tokenized", help="One sentence a line, blanks between tokens.")
    ] = False,
    tagged: Annotated[bool, typer.Option("--tagged", help="The same, with tokens as word_TAG.")] = False,
    decoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="How to choose the tree, e.g. mbr, viterbi.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="ptb, pretty, json or svg.")
    ] = "ptb",
    scores: Annotated[
        bool, typer.Option("--scores", help="Add the log-probability and each constituent's posterior.")
    ] = False,
    k: Annotated[int, typer.Option("--k", min=1, metavar="N", help="The N best trees of each sentence.")] = 1,
    jobs: Annotated[int | None, typer.Option(min=1, metavar="N", help="Sentences parsed at a time.")] = None,
    engine: EngineName = None,
    scheduler: Scheduler = None,
    checkpoint: CheckpointFolder = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; for svg, a folder."),
    ] = None,
) -> None:
    """Parse text into constituency trees."""
    if tokenized and tagged:
        raise ConfigError("--tokenized and --tagged exclude each other", hint="--tagged text is tokenized")
    from spectralnlp.render import renderer

    render = renderer(format_)
    sources = _sources(files or [STDIN])
    with progress(f"loading {model}"):
        from spectralnlp.cli.models import load_for

        parser = load_for(model, "parse_many", "parse")
    sentences = _sentences(parser, sources, tokenized=tokenized, tagged=tagged)
    n_sentences, fallbacks = 0, Counter[str]()
    sink = _svg_files(output) if output is not None and format_ == "svg" else results(output)
    # A terminal that shows the trees needs no progress beside them.
    shown = output is None and sys.stdout.isatty()
    with faults(checkpoint), announced_kernels(), sink as write, progress("parsing", silent=shown) as step:
        if engine or scheduler or checkpoint:
            texts = _on_workers(Where(engine, jobs, scheduler), model, sentences, decoder, k, format_, scores)
        else:
            found = parser.parse_many(sentences, decoder=decoder, jobs=jobs or 1, k=k)
            texts = (None if each is None else (render(each, scores), each.fallback) for each in found)
        for result in texts:
            text, fallback = result or ("", None)
            write(text)
            step()
            n_sentences += result is not None
            if fallback is not None:
                fallbacks[fallback] += 1
    if fallbacks:
        reasons = "; ".join(f"{count} × {reason}" for reason, count in fallbacks.most_common())
        note(f"{fallbacks.total()} of {n_sentences} sentences got a fallback tree ({reasons})")


def _on_workers(
    where: Where, model: str, sentences: Iterable[Sentence | None], decoder: str | None, k: int, form: str,
    scores: bool,
) -> Iterator[tuple[str, str | None] | None]:  # fmt: skip
    """What each sentence's parse looks like, and why it is a fallback if it is one."""
    from spectralnlp.cli.remote import ParseToText, fingerprint_of
    from spectralnlp.journal import map_resumable

    parse_to_text = ParseToText(model, fingerprint_of(model), decoder, k, form, scores)
    with where.running():
        yield from map_resumable(parse_to_text, sentences, parse_to_text.about())


def _sources(files: list[str]) -> list[str]:
    """The files behind the arguments; what is missing is missed before any work starts."""
    from spectralnlp.corpus import expand_inputs

    sources: list[str] = []
    for file in files:
        sources += [STDIN] if file == STDIN else map(str, expand_inputs([file]))
    return sources


@contextmanager
def _lines(source: str) -> Iterator[Iterator[str]]:
    from spectralnlp.corpus import decode_lines, open_text

    if source != STDIN:
        with open_text(source) as lines:
            yield lines
    elif sys.stdin is None:
        raise InputError("standard input is closed", hint="give a file")
    else:
        yield decode_lines(sys.stdin.buffer, _called(source))


def _called(source: str) -> str:
    return "<stdin>" if source == STDIN else source


def _sentences(
    parser: Parser, sources: list[str], *, tokenized: bool, tagged: bool
) -> Iterator[Sentence | None]:
    """The sentences of all files, read as they are needed; None for a blank line of tokenized text."""
    from spectralnlp.text.sentences import read_tagged, read_tokenized

    for source in sources:
        with _lines(source) as bare:
            lines = (line + "\n" for line in bare)  # offsets count a line end as one character
            if tagged:
                yield from read_tagged(lines, parser.tokenizer, _called(source))
            elif tokenized:
                yield from read_tokenized(lines, parser.tokenizer)
            else:
                yield from parser.sentences(lines)


@contextmanager
def _svg_files(folder: Path) -> Iterator[Callable[[str], None]]:
    """A function that writes each document to a file of its own, ``00001.svg`` and so on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write the output: {error.strerror}", path=folder) from error
    number = 0

    def write(document: str) -> None:
        nonlocal number
        number += 1  # blank lines count too, so that numbers stay aligned with lines
        if document:
            with results(folder / f"{number:05d}.svg") as write_line:
                write_line(document)

    yield write
