"""``spectralnlp classify``: text in, labels out, a line at a time."""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp_sketch.intent.model import Classification, Classifier

STDIN = "-"
_CHUNK = 1 << 16


def classify(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL] [FILE]...",
            help="The model (or --model), and texts, one a line, .gz too; no file, or -, is standard input.",
        ),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", metavar="NAME|PATH", help="The classifier.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, metavar="N", help="The N likeliest labels of each text.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where to write.")
    ] = None,
) -> None:
    """Classify texts, one a line: label, confidence (and so on with --top), between tabs.

    With --json: text, label, confidence, out_of_scope and the scores of the likeliest labels.
    """
    from spectralnlp import load
    from spectralnlp.cli.console import announced_kernels, progress, results

    files = list(arguments or [])
    if model is None and not files:
        raise ConfigError("no model", hint="spectralnlp classify MODEL [FILE...]")
    name = model if model is not None else files.pop(0)
    sources = [source for file in files or [STDIN] for source in _expanded(file)]
    classifier = load(name)
    if classifier.task != "intents":
        raise ConfigError(f"{name} is a model for {classifier.task}, not for intents")
    show = _as_json if as_json else _as_columns
    with announced_kernels(), results(output) as write, progress("classifying"):
        for batch in _batches(sources):
            found = classifier.classify(batch)
            lines = (show(classifier, text, each, top) for text, each in zip(batch, found, strict=True))
            write("\n".join(lines))


def _expanded(file: str) -> Sequence[str]:
    from spectralnlp.corpus import expand_inputs

    return [STDIN] if file == STDIN else [str(path) for path in expand_inputs([file])]


def _batches(sources: Sequence[str]) -> Iterator[list[str]]:
    """Texts of all sources, many at a time, but never waiting for more of a terminal or a pipe."""
    from itertools import islice

    from spectralnlp.corpus import open_text
    from spectralnlp_sketch.intent.model import BATCH_TEXTS

    for source in sources:
        if source == STDIN:
            yield from _arriving(sys.stdin.buffer)
            continue
        with open_text(source) as lines:
            while batch := list(islice(lines, BATCH_TEXTS)):
                yield batch


def _arriving(stream: Any) -> Iterator[list[str]]:
    """The lines of a stream as they arrive: all that are there, at once."""
    from spectralnlp.corpus import decode_lines

    waiting: deque[bytes] = deque()
    decoded = decode_lines(iter(waiting.popleft, None), "<stdin>")
    rest = b""
    while True:
        chunk = stream.read1(_CHUNK)
        *whole, rest = (rest + chunk).split(b"\n")
        if not chunk and rest:
            whole = [rest]
        if whole:
            waiting.extend(whole)
            yield [next(decoded) for _ in whole]
        if not chunk:
            return


def _as_columns(classifier: Classifier, text: str, found: Classification, top: int) -> str:
    if top == 1:
        return f"{found.label}\t{found.confidence:.4f}"
    return "\t".join(f"{label}\t{score:.4f}" for label, score in _top(classifier, found, top))


def _as_json(classifier: Classifier, text: str, found: Classification, top: int) -> str:
    scores = {label: round(score, 6) for label, score in _top(classifier, found, top)}
    return json.dumps(
        {
            "text": text,
            "label": found.label,
            "confidence": round(found.confidence, 6),
            "out_of_scope": round(found.out_of_scope, 6),
            "scores": scores,
        },
        ensure_ascii=False,
    )


def _top(classifier: Classifier, found: Classification, n: int) -> list[tuple[str, float]]:
    best = (-found.scores).argsort(kind="stable")[:n].tolist()
    return [(classifier.labels[label], float(found.scores[label])) for label in best]
