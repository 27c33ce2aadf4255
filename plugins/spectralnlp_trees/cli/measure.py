"""Command ``spectralnlp measure``: measure syntactic complexity, depth, branching and constituent lengths.

The output has a row for each file or sentence. ``--format json`` adds length statistics of every label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import note, progress, results
from spectralnlp.cli.formats import CSV, Rows, TableFormat, check_format
from spectralnlp.cli.kernels import announced_kernels
from spectralnlp.cli.options import FileEncoding, OutputFile, SkipBad, TextModel, TokenizedText, TreeReader
from spectralnlp_trees.cli.places import read_places

if TYPE_CHECKING:
    from spectralnlp_trees.measures.structures import Structures
    from spectralnlp_trees.measures.values import Measures
    from spectralnlp_trees.tregex.show import Place

_DECIMALS = 4
_MAX_LABELS = 12


def measure(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Treebank files or folders; none, or -, is standard input."),
    ] = None,
    format_: TableFormat = CSV,
    by_sentence: Annotated[
        bool, typer.Option("--by-sentence", help="Write a row for each tree, not for each file.")
    ] = False,
    model: TextModel = None,
    tokenized: TokenizedText = False,
    structures: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Table that defines clauses, T-units and the like for these trees: in each line a name, "
            "such as C, a tab, and a pattern of `search`.",
        ),
    ] = None,
    reader: TreeReader = "auto",
    encoding: FileEncoding = None,
    skip_bad: SkipBad = False,
    output: OutputFile = None,
) -> None:
    """Measure the syntactic complexity of texts and the shape of their trees."""
    check_format(format_)
    from spectralnlp_trees.measures.structures import read_structures

    patterns = None if structures is None else read_structures(structures)
    places = read_places(files or [], reader, encoding, model=model, tokenized=tokenized, skip_bad=skip_bad)
    measured = (_of_trees if by_sentence else _of_files)(places, patterns)
    with announced_kernels(here=model is not None), results(output) as write, progress("measuring") as step:
        show = _Rows(Rows(write, format_))
        for where, of_file, values in measured:
            show(where, of_file, values)
            step()
        show.rows.finish()
    if patterns is None and show.unknown:
        note(
            f"{show.unknown}: most tags are not the Penn treebank's for English, so clauses, T-units and the "
            "like are left blank; define them for these trees with --structures FILE"
        )


# File and number of a row, the measures of its file, and the measures of the row itself.
_Row = tuple[dict[str, Any], "Measures", "Measures"]


def _of_files(places: Iterator[Place], structures: Structures | None) -> Iterator[_Row]:
    """Yield a row for each file, with the measures of all its trees."""
    from spectralnlp_trees.measures.measure import measure

    for file, some in groupby(places, key=lambda place: place.file):
        measured = measure((place.tree for place in some), structures=structures)
        yield {"file": file, "trees": measured.n_trees}, measured, measured


def _of_trees(places: Iterator[Place], structures: Structures | None) -> Iterator[_Row]:
    """Yield a row for each tree, with its measures."""
    from spectralnlp_trees.measures.measure import measure_each
    from spectralnlp_trees.measures.values import Measures

    for file, group in groupby(places, key=lambda place: place.file):
        some = list(group)
        rows = list(measure_each((each.tree for each in some), structures=structures))
        of_file = Measures.total(rows)
        for place, measured in zip(some, rows, strict=True):
            yield {"file": file, "tree": place.number}, of_file, measured


class _Rows:
    """Writer of measures as table rows, which chooses the columns from the first file.

    Args:
        rows: writer of one table row, in any output format.

    Attributes:
        labels: labels whose mean lengths are shown: those of the Penn treebank, or the most frequent labels
            of the first file.
        unknown: name of the first file in which some structures could not be counted.
    """

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.labels: Sequence[str] = ()
        self.unknown = ""

    def __call__(self, where: Mapping[str, Any], of_file: Measures, measured: Measures) -> None:
        """Write one row of measures.

        Args:
            where: first cells of the row by column name: the file, and the tree's number or number of trees.
            of_file: measures of the whole file, from which the columns are chosen.
            measured: measures to write: of the file or of one tree.
        """
        from spectralnlp_trees.measures.structures import STRUCTURES
        from spectralnlp_trees.measures.values import PROFILED

        known = STRUCTURES.keys() <= of_file.structures.keys()
        if not known:
            self.unknown = self.unknown or where["file"]
        if not self.labels:
            frequent = [each.label for each in of_file.lengths()[:_MAX_LABELS]]
            self.labels = PROFILED if known else frequent
        cells = {**where, **_rounded(measured.to_flat_dict(self.labels))}
        lengths = [_rounded(asdict(each)) for each in measured.lengths()]
        self.rows(cells, {**cells, "lengths": lengths})


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: round(each, _DECIMALS) if isinstance(each, float) else each for name, each in values.items()
    }
