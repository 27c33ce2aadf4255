"""``spectralnlp parse``: parse text into trees, one sentence at a time.

Formats (``--format``):

- ``ptb``: one bracketed tree per line; ``--scores`` adds two tab-separated columns, the log-probability
  and ``label:start:end=posterior`` for each constituent (token offsets); ``--k N`` prints the N best trees
  of a sentence as ``tree <TAB> score``, followed by a blank line;
- ``pretty``: a drawing of each tree in plain text;
- ``json``: one object per line, described by ``spectralnlp/render/parse.schema.json``;
- ``conllu``: CoNLL-U with Universal Dependencies for English, with unlabelled heads for other languages;
- ``svg``: one drawing with the trees below one another; with ``-o DIR`` one file per sentence.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import note, progress, results
from spectralnlp.cli.options import HERE, Work, command_options
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.parameters import AnnotationScheme
    from spectralnlp.text.tokens import Sentence
    from spectralnlp.trees.parse import Parse


@command_options("jobs engine scheduler checkpoint")
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
    conllu: Annotated[
        bool,
        typer.Option(
            "--conllu",
            help="CoNLL-U with tags, heads and relations: evidence for a parser that was trained with such.",
        ),
    ] = False,
    constraints: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="With --tokenized or --tagged: what each tree must have, a line of JSON a sentence, such as "
            '{"brackets": [[0, 3, "NP"]], "forbidden": [[2, 5]], "tags": {"4": "NN"}}.',
        ),
    ] = None,
    tagger: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|PATH|none", help="A tagger of the same tags to listen to; default the model's own."
        ),
    ] = None,
    fixed_tags: Annotated[
        bool,
        typer.Option(
            "--fixed-tags", help="Take the tags of --tagger, or of the model's own tagger, as given."
        ),
    ] = False,
    decoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="How to choose the tree, e.g. mbr, viterbi.")
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="NAME", help="ptb, pretty, json, svg or conllu.")
    ] = "ptb",
    scores: Annotated[
        bool, typer.Option("--scores", help="Add the log-probability and each constituent's posterior.")
    ] = False,
    k: Annotated[int, typer.Option("--k", min=1, metavar="N", help="The N best trees of each sentence.")] = 1,
    work: Work = HERE,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; for svg, x.svg or a folder."),
    ] = None,
) -> None:
    """Parse text into constituency trees."""
    if tokenized + tagged + conllu > 1:
        what = "--tokenized, --tagged and --conllu exclude each other"
        raise ConfigError(what, hint="the text of --tagged and --conllu is tokenized")
    if constraints is not None and not (tokenized or tagged):
        raise ConfigError("--constraints needs --tokenized or --tagged", hint="constraints count tokens")
    from spectralnlp.cli.models import NO_TAGGER, load_parser

    if fixed_tags and tagger == NO_TAGGER:
        raise ConfigError("--fixed-tags needs a tagger", hint="add --tagger NAME")
    from spectralnlp.cli.remote import ParseToText, cutter
    from spectralnlp.cli.texts import Meter, sentences, sources
    from spectralnlp.render import renderer

    render = renderer(format_)
    if constraints is not None or conllu:  # which are not sent to other processes
        work = replace(work, jobs_engine="threads")
    here = work.engine_name in (None, "threads") and work.checkpoint is None
    found = sources(files or [])
    meter = Meter(found)
    tasks: Iterable[Sequence[tuple[str, str | None] | None]]
    if here:
        with progress(f"loading {model}"):
            parser = load_parser(model, tagger, fixed_tags=fixed_tags)
        written = {"tokenized": tokenized, "tagged": tagged, "conllu": conllu}
        known = parser.tags if tagged else None
        stream = sentences(parser.tokenizer, found, known=known, meter=meter, **written)
        stream = _with_known_annotations(stream, parser.annotation_scheme) if conllu else stream
        parses = _parses(parser, stream, constraints, decoder=decoder, k=k)
        tasks = ([None if each is None else (render(each, scores), each.fallback)] for each in parses)
    elif constraints is not None or conllu:
        option = "--conllu" if conllu else "--constraints"
        what = f"{option} takes no worker processes and no checkpoint"
        raise ConfigError(what, hint="use --engine threads, or --jobs alone")
    else:
        to_text = ParseToText.of(
            model,
            tokenized=tokenized,
            tagged=tagged,
            tagger=tagger,
            fixed_tags=fixed_tags,
            decoder=decoder,
            k=k,
            form=format_,
            scores=scores,
        )
        tasks = to_text.results(to_text.cut(found, None if tokenized or tagged else cutter(model)))
    n_sentences, fallbacks = 0, Counter[str]()
    # No progress is shown on a terminal that shows the trees.
    shown = output is None and sys.stdout.isatty()
    with (
        work.running("parsing", kernels=here, parser=model, meter=meter, silent=shown) as step,
        _SINKS.get(format_, results)(output) as write,
    ):
        for task in tasks:
            write(*["" if each is None else each[0] for each in task])
            for each in task:
                step()
                if each is not None:
                    n_sentences += 1
                    fallbacks.update(filter(None, each[1:]))
    if fallbacks:
        reasons = "; ".join(f"{count} × {reason}" for reason, count in fallbacks.most_common())
        note(f"{fallbacks.total()} of {n_sentences} sentences got a fallback tree ({reasons})")


def _parses(
    parser: Any, stream: Iterable[Sentence | None], constraints: str | None, **options: Any
) -> Iterator[Parse | None]:
    """Parse sentences in this process or its threads, and yield the parses in order.

    Args:
        parser: the parser.
        stream: the sentences; None for a blank line, which yields None.
        constraints: file with constraints on the trees, or None.
        options: further arguments of ``Parser.parse_many``.
    """
    if constraints is None:
        yield from parser.parse_many(stream, **options)
        return
    from spectralnlp.cli.constraints import constrained, with_lines

    yield from with_lines(parser.parse_many(constrained(stream, constraints), **options), constraints)


def _with_known_annotations(
    sentences: Iterable[Sentence | None], scheme: AnnotationScheme | None
) -> Iterator[Sentence | None]:
    """Yield sentences, without annotations of another scheme than the parser's; note how many at the end.

    Args:
        sentences: the sentences.
        scheme: labels and tags of the annotations that the parser was trained with; None for none.
    """
    if scheme is None:
        note("the parser was trained without annotations, and ignores heads, relations and tags")
    n_annotated, strange = 0, list[str]()
    for sentence in sentences:
        if scheme is not None and sentence is not None and sentence.annotations is not None:
            n_annotated += 1
            if unknown := scheme.unknown(sentence.annotations):
                strange.append(unknown[0])
                sentence = replace(sentence, annotations=None)
        yield sentence
    if strange and scheme is not None:
        unlike = f"{strange[0]!r}, for example, is not among the labels of {scheme.name}"
        note(f"the annotations of {len(strange)} of {n_annotated} sentences were not used: {unlike}")


@contextmanager
def _numbered(output: Path | None) -> Iterator[Callable[..., None]]:
    """Yield a function that writes CoNLL-U sentences and numbers them.

    Empty texts, which stand for blank lines of the input, are neither written nor numbered.
    """
    numbers = count(1)
    with results(output) as write_line:

        def write(*sentences: str) -> None:
            for each in filter(None, sentences):
                write_line(f"# sent_id = {next(numbers)}\n{each}")

        yield write


def _svg_sink(output: Path | None) -> AbstractContextManager[Callable[..., None]]:
    """Return a context manager for drawings; it yields a function that writes drawings.

    Args:
        output: an ``.svg`` file for one document with all drawings, or a folder for a file per drawing; None
            for one document on stdout.
    """
    if output is None or output.suffix.lower() == ".svg":
        return _one_svg(output)
    return _svg_files(output)


@contextmanager
def _one_svg(output: Path | None) -> Iterator[Callable[..., None]]:
    """Yield a function that collects drawings; write them as one SVG document after the ``with`` block."""
    from spectralnlp.render.svg import stacked

    collected: list[str] = []
    with results(output) as write_line:
        yield lambda *documents: collected.extend(filter(None, documents))
        write_line(stacked(collected) if len(collected) != 1 else collected[0])


@contextmanager
def _svg_files(folder: Path) -> Iterator[Callable[..., None]]:
    """Yield a function that writes each drawing to its own file, ``00001.svg`` and so on."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"cannot write the output: {error.strerror}", path=folder) from error
    number = 0

    def write(*documents: str) -> None:
        nonlocal number
        for document in documents:
            number += 1  # blank lines are counted, so that tokenized sentences are numbered by line
            if document:
                with results(folder / f"{number:05d}.svg") as write_line:
                    write_line(document)

    yield write


# Context managers by format, whose function writes the texts of parses; the default is `results`.
_SINKS = {"svg": _svg_sink, "conllu": _numbered}
