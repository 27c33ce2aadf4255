"""``spectralnlp score``: compare two files of trees as EVALB does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from spectralnlp.cli.formats import TABLE, TableFormat, check_format, write_rows
from spectralnlp.cli.options import EvalbFile
from spectralnlp.errors import InputError

if TYPE_CHECKING:
    from spectralnlp.scoring import EvalbParameters
    from spectralnlp.trees.tree import Tree

T = TypeVar("T")
_FAILED = "\N{REPLACEMENT CHARACTER}NO-PARSE"


def score(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Trees of the treebank: a file or a folder.")],
    predicted: Annotated[
        str, typer.Argument(metavar="PREDICTED", help="A parser's trees, in order: a file or a folder.")
    ],
    prm: EvalbFile = None,
    predicted_tags: Annotated[
        bool, typer.Option("--predicted-tags", help="Plain EVALB: count with the predicted tags.")
    ] = False,
    per_sentence: Annotated[bool, typer.Option("--per-sentence", help="A line for each sentence.")] = False,
    format_: TableFormat = TABLE,
) -> None:
    """Score predicted trees against gold trees, as EVALB does."""
    from spectralnlp.cli.console import note, progress
    from spectralnlp.runtime import expand_inputs, rereadable
    from spectralnlp.scoring import score_trees
    from spectralnlp.trees.readers import read_trees
    from spectralnlp.trees.readers.recognition import changes_of

    check_format(format_)
    parameters = evalb_parameters(prm)
    with progress("scoring"):
        files = expand_inputs(rereadable([gold]))
        trees = (tree for file in files for tree in read_trees(file))
        pairs = _not_empty(trees, gold), _not_empty(predictions(predicted), predicted)
        report = score_trees(*pairs, parameters, tags="predicted" if predicted_tags else "gold")
    for line in changes_of(files):
        note(line)
    rows = report.sentence_rows() if per_sentence else [report.to_flat_dict()]

    def table() -> str:
        lines = [*report.sentence_lines(), ""] if per_sentence else []
        return "\n".join([*lines, report.to_table()])

    write_rows(print, format_, rows, table=table)


def evalb_parameters(prm: Path | None) -> EvalbParameters:
    """Return the EVALB parameters of a file; for None, the parameters of the usual file COLLINS.prm."""
    from spectralnlp.scoring import COLLINS, read_prm

    return COLLINS if prm is None else read_prm(prm)


def predictions(path: str) -> Iterator[Tree | None]:
    """Yield the trees of a file or folder, in the format of any treebank.

    For a line ``()`` or ``(())``, by which parsers mark a failure, None is yielded.
    """
    from spectralnlp.runtime import expand_inputs, open_text, rereadable
    from spectralnlp.trees.readers import TreeReader, recognise

    failed = f"({_FAILED} {_FAILED})"  # placeholder for such a line, so that line numbers stay right
    for file in expand_inputs(rereadable([path])):
        reader = recognise(file)
        if not isinstance(reader, TreeReader):
            yield from reader.read(file)
            continue
        with open_text(file, reader.encoding) as lines:
            marked = (failed if "".join(line.split()) in ("()", "(())") else line for line in lines)
            for tree in reader.trees(marked, file, None):
                yield None if tree.label == _FAILED else tree


def _not_empty(trees: Iterator[T], path: str) -> list[T]:
    found = list(trees)
    if not found:
        raise InputError("no trees in this file", path=path)
    return found
