"""``spectralnlp measure``: syntactic complexity, depth, branching and lengths of constituents, a row a file.

Formats (``--format``): ``csv`` and ``tsv``, with a first line of names; ``json``, one object a line, in which
``lengths`` has the constituents of every label.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import announced_kernels, progress, results
from spectralnlp.cli.options import FileEncoding, OutputFile, TextModel, TokenizedText, TreeReader
from spectralnlp.errors import ConfigError
from spectralnlp_trees.cli.places import read_places

if TYPE_CHECKING:
    from spectralnlp_trees.measures.values import Measures
    from spectralnlp_trees.tregex.show import Place

_SEPARATORS = {"csv": ",", "tsv": "\t"}
_DECIMALS = 4


def measure(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Treebank files or folders; none, or -, is standard input."),
    ] = None,
    format_: Annotated[str, typer.Option("--format", metavar="NAME", help="csv, tsv or json.")] = "csv",
    by_sentence: Annotated[
        bool, typer.Option("--by-sentence", help="A row for each tree, not for each file.")
    ] = False,
    model: TextModel = None,
    tokenized: TokenizedText = False,
    reader: TreeReader = "auto",
    encoding: FileEncoding = None,
    output: OutputFile = None,
) -> None:
    """Measure the syntactic complexity of texts, and the shape of their trees."""
    if format_ not in (*_SEPARATORS, "json"):
        raise ConfigError(f"no output format {format_!r}", hint="choose from csv, tsv, json")
    places = read_places(files or [], reader, encoding, model=model, tokenized=tokenized)
    with announced_kernels(here=model is not None), results(output) as write, progress("measuring") as step:
        show = _as_json if format_ == "json" else _Columns(_SEPARATORS[format_], write)
        for where, measured in (_of_trees if by_sentence else _of_files)(places):
            write(show(where, measured))
            step()


def _of_files(places: Iterator[Place]) -> Iterator[tuple[dict[str, Any], Measures]]:
    """Each file, with the measures of all its trees."""
    from spectralnlp_trees.measures.measure import measure

    for file, some in groupby(places, key=lambda place: place.file):
        measured = measure(place.tree for place in some)
        yield {"file": file, "trees": measured.n_trees}, measured


def _of_trees(places: Iterator[Place]) -> Iterator[tuple[dict[str, Any], Measures]]:
    """Each tree, with its measures."""
    from spectralnlp_trees.measures.measure import measure_each

    for file, group in groupby(places, key=lambda place: place.file):
        some = list(group)
        for place, measured in zip(some, measure_each(each.tree for each in some), strict=True):
            yield {"file": file, "tree": place.number}, measured


def _as_json(where: Mapping[str, Any], measured: Measures) -> str:
    lengths = [_rounded(asdict(each)) for each in measured.lengths()]
    return json.dumps({**where, **_rounded(measured.to_flat_dict()), "lengths": lengths}, ensure_ascii=False)


class _Columns:
    """Rows with the same separator between cells; the first row comes with a line of names.

    Args:
        separator: a comma or a tab.
        write: writes the line of names.
    """

    def __init__(self, separator: str, write: Callable[[str], None]) -> None:
        self.separator, self.write, self.named = separator, write, False

    def __call__(self, where: Mapping[str, Any], measured: Measures) -> str:
        cells = {**where, **_rounded(measured.to_flat_dict())}
        if not self.named:
            self.write(self._line(cells))
            self.named = True
        return self._line(cells.values())

    def _line(self, cells: Any) -> str:
        line = io.StringIO()
        csv.writer(line, delimiter=self.separator, lineterminator="").writerow(cells)
        return line.getvalue()


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: round(each, _DECIMALS) if isinstance(each, float) else each for name, each in values.items()
    }
