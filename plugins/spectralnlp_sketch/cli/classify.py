"""Command ``spectralnlp classify``: label each line of text files, or each text in a column of a table."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import typer

from spectralnlp.cli.formats import CSV, JSON, TABLE, TSV, TableFormat, check_format, delimited
from spectralnlp.cli.options import HERE, OutputFile, TextColumn, Work, command_options
from spectralnlp.cli.remote import OnWorkers, batches
from spectralnlp.errors import ConfigError, InputError

if TYPE_CHECKING:
    from spectralnlp.cli.texts import Meter
    from spectralnlp_sketch.intent.model import Classification, Classifier

STDIN = "-"
_CHUNK = 1 << 16


@command_options("jobs engine scheduler checkpoint")
def classify(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL] [FILE]...",
            help="The model (or --model), and texts: one a line, or tables (.csv, .tsv, .jsonl, .parquet) "
            "of texts; no file, or -, is standard input.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="NAME|PATH", help="The classifier.")
    ] = None,
    text_column: TextColumn = None,
    top: Annotated[
        int, typer.Option(min=1, metavar="N", help="Write the N likeliest labels of each text.")
    ] = 1,
    format_: TableFormat = TABLE,
    oos_label: Annotated[
        str | None,
        typer.Option("--oos-label", metavar="LABEL", help="Label for texts that are out of scope."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Write the contribution of each word to the label's score.")
    ] = False,
    work: Work = HERE,
    output: OutputFile = None,
) -> None:
    """Classify texts, one per line or in a column of a table; write tab-separated labels and confidences.

    --top adds further labels. --oos-label sets the label of texts that are out of scope, by a threshold that
    was chosen in training. Formats other than table also write the text, and json the scores of the likeliest
    labels. --explain adds a column of words and scores, in natural logarithms; in json, an object with words
    and n-grams.
    """
    from spectralnlp.cli.console import results
    from spectralnlp.cli.texts import Meter

    check_format(format_)
    files = list(arguments or [])
    if model is None and not files:
        raise ConfigError("no model", hint="spectralnlp classify MODEL [FILE...]")
    name = model if model is not None else files.pop(0)
    sources = [source for file in files or [STDIN] for source in _expanded(file, text_column)]
    meter = Meter(sources)
    style = Style(top, format_, explain, oos_label)
    arriving = _batches(sources, meter, text_column)
    tasks: Iterable[Sequence[str]]
    here = work.engine_name is None and work.checkpoint is None
    if not here:
        # Batches of fixed size, not as texts arrive: a resumed run must split the stream at the same places.
        texts = batches(chain.from_iterable(arriving), ClassifyToText.batch_size)
        tasks = ClassifyToText.of(name, style=style).results(texts)
    else:
        classifier = _load(name)
        tasks = (classified_text(classifier, batch, style) for batch in arriving)
    with work.running("classifying", kernels=here, meter=meter) as step, results(output) as write:
        if format_ in (TSV, CSV):
            write(delimited(style.columns(), format_))
        for lines in tasks:
            write(*lines)
            for _ in lines:
                step()


def _load(name: str) -> Any:
    from spectralnlp import load

    classifier = load(name)
    if classifier.task != "intents":
        raise ConfigError(f"{name} is a model for {classifier.task}, not for intents")
    return classifier


def _expanded(file: str, text_column: str | int | None) -> Sequence[str]:
    from spectralnlp.runtime import expand_inputs, rereadable

    if file == STDIN and text_column is None:
        return [STDIN]
    # Column names are read first, so the file is read twice, which a pipe does not allow.
    again = [file] if text_column is None else rereadable([file])
    return [str(path) for path in expand_inputs(again)]


def _batches(sources: Sequence[str], meter: Meter, text_column: str | int | None) -> Iterator[list[str]]:
    """Yield batches of texts of all sources; texts from a terminal or pipe are passed on at once.

    Args:
        sources: files, or ``-`` for standard input.
        meter: progress display that counts the texts.
        text_column: name or number of the column of texts in tables; None to recognise it.
    """
    from spectralnlp.cli.console import note
    from spectralnlp.runtime import open_text
    from spectralnlp_sketch.intent.reading import read_column

    for source in sources:
        if source == STDIN and sys.stdin is None:
            raise InputError("standard input is closed", hint="give a file")
        if source == STDIN:
            yield from _arriving(sys.stdin.buffer)
            continue
        table = read_column(source, text_column)
        if table is not None:
            column, texts = table
            if isinstance(column, str):
                note(f"{source}: texts are in the column {column!r}")
            yield from batches(meter.counted(texts), ClassifyToText.batch_size)
            continue
        with open_text(source) as lines:
            yield from batches(meter.counted(lines), ClassifyToText.batch_size)


def _arriving(stream: Any) -> Iterator[list[str]]:
    """Yield batches of lines of a stream as they arrive; a batch holds all lines that are available."""
    from spectralnlp.runtime import LONGEST_LINE, decode_lines, too_long_line

    waiting: deque[bytes] = deque()
    decoded = decode_lines(iter(lambda: waiting.popleft() if waiting else None, None), "<stdin>")
    rest = b""
    while True:
        chunk = stream.read1(_CHUNK)
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST_LINE:
            raise too_long_line("<stdin>", None)
        if not chunk and rest:
            whole = [rest]
        if whole:
            waiting.extend(whole)
            yield [next(decoded) for _ in whole]
        if not chunk:
            return


class Style(NamedTuple):
    """Output format of classified texts.

    Args:
        top: number of the likeliest labels to write.
        format: one of `FORMATS`; the format ``table`` has no header line.
        explain: whether to write the contribution of words to the label's score.
        oos_label: label for texts out of scope; None to give them their likeliest label.
    """

    top: int = 1
    format: str = TABLE
    explain: bool = False
    oos_label: str | None = None

    def columns(self) -> list[str]:
        """Return the names of the output columns of TSV and CSV."""
        more = [f"{name}_{n}" for n in range(2, self.top + 1) for name in ("label", "confidence")]
        return ["text", "label", "confidence", "out_of_scope", *more, *["explanation"] * self.explain]


LABEL_ONLY = Style()


@dataclass(frozen=True)
class ClassifyToText(OnWorkers[str, str]):
    """Callable for worker processes that classifies a batch of texts and returns output lines.

    Args:
        style: output format.
    """

    style: Style = LABEL_ONLY
    batch_size: ClassVar[int] = 1024

    def __call__(self, batch: Sequence[str]) -> list[str]:
        """Classify texts, and return an output line for each."""
        return classified_text(self.loaded(_load), batch, self.style)


def classified_text(classifier: Classifier, batch: Sequence[str], style: Style) -> list[str]:
    """Classify texts, and return an output line for each."""
    show = {TABLE: _as_columns, JSON: _as_json}.get(style.format, _as_row)
    found = classifier.classify_many(batch)
    return [show(classifier, text, each, style) for text, each in zip(batch, found, strict=True)]


def _label(classifier: Classifier, found: Classification, style: Style) -> str:
    refused = style.oos_label is not None and classifier.refuses(found)
    return str(style.oos_label) if refused else found.label


def _as_columns(classifier: Classifier, text: str, found: Classification, style: Style) -> str:
    if _label(classifier, found, style) != found.label:
        best = [(str(style.oos_label), found.out_of_scope)]
    else:
        best = [(found.label, found.confidence)] if style.top == 1 else _top(classifier, found, style.top)
    columns = [f"{label}\t{score:.4f}" for label, score in best]
    if style.explain:
        columns.append(_in_words(classifier, text))
    return "\t".join(columns)


def _as_row(classifier: Classifier, text: str, found: Classification, style: Style) -> str:
    """Return the TSV or CSV line of a classified text, labelled ``style.oos_label`` if it is out of scope."""
    scores = [round(score, 6) for score in (found.confidence, found.out_of_scope)]
    cells: list[Any] = [text, _label(classifier, found, style), *scores]
    for label, score in _top(classifier, found, style.top)[1:]:
        cells += [label, round(score, 6)]
    cells += [""] * (len(style.columns()) - style.explain - len(cells))
    return delimited([*cells, *[_in_words(classifier, text)] * style.explain], style.format)


def _in_words(classifier: Classifier, text: str) -> str:
    return " ".join(f"{each.text}:{each.score:+.2f}" for each in classifier.explain(text, limit=0).words)


def _as_json(classifier: Classifier, text: str, found: Classification, style: Style) -> str:
    scores = {label: round(score, 6) for label, score in _top(classifier, found, style.top)}
    values: dict[str, Any] = {
        "text": text,
        "label": _label(classifier, found, style),
        "confidence": round(found.confidence, 6),
        "out_of_scope": round(found.out_of_scope, 6),
        "scores": scores,
    }
    if style.explain:
        values["explanation"] = classifier.explain(text, limit=0).to_json()
    return json.dumps(values, ensure_ascii=False)


def _top(classifier: Classifier, found: Classification, n: int) -> list[tuple[str, float]]:
    best = (-found.scores).argsort(kind="stable")[:n].tolist()
    return [(classifier.labels[label], float(found.scores[label])) for label in best]
