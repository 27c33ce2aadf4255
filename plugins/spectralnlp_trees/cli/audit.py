"""Command ``spectralnlp audit``: list likely annotation errors of a treebank, the most doubtful first.

The extension of the output file selects the format: table rows (``.tsv``, ``.csv``, ``.json``), a page
(``.html``) or the doubtful trees, for ``spectralnlp annotate`` (``.mrg``). ``--format`` is the format on
standard output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import progress, results
from spectralnlp.cli.formats import TSV, TableFormat, check_format, write_rows
from spectralnlp.cli.kernels import announced_kernels
from spectralnlp.cli.options import FileEncoding, OutputFile, SkipBad, TreeReader
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.trees import Tree
    from spectralnlp_trees.auditing.doubts import Doubt
    from spectralnlp_trees.tregex.show import Place

_ENDINGS = (".html", ".mrg", ".tsv", ".csv", ".json")


def audit(
    files: Annotated[
        list[str],
        typer.Argument(metavar="TREES", help="Treebank files or folders; - is standard input."),
    ],
    rows: Annotated[
        int, typer.Option("--rows", min=1, metavar="N", help="Maximum number of doubtful nodes.")
    ] = 600,
    format_: TableFormat = TSV,
    output: OutputFile = None,
    reader: TreeReader = "auto",
    encoding: FileEncoding = None,
    skip_bad: SkipBad = False,
) -> None:
    """Find likely annotation errors: brackets and tags that disagree with the rest of the treebank."""
    from spectralnlp_trees.auditing.audit import audit as find_doubts
    from spectralnlp_trees.auditing.page import as_audit_page

    check_format(format_)
    if output is not None and output.suffix not in _ENDINGS:
        what = f"no format for the ending {output.suffix!r}"
        raise ConfigError(what, path=output, hint=f"choose from {', '.join(_ENDINGS)}")
    if output is not None and output.is_dir():
        raise ConfigError("cannot write the output: this is a folder", path=output)
    annotated, places = _cleaned(files, reader, encoding, skip_bad)
    documents = {file: number for number, file in enumerate(dict.fromkeys(each.file for each in places))}
    with announced_kernels(), progress("auditing") as step:
        doubts = find_doubts(
            [each.tree for each in places],
            [documents[each.file] for each in places],
            limit=rows,
            report_done=step,
        )
    with results(output) as write:
        if output is not None and output.suffix == ".html":
            title = f"Doubtful nodes of {', '.join(Path(file).name for file in files)}"
            write(as_audit_page(doubts, places, title=title).rstrip("\n"))
        elif output is not None and output.suffix == ".mrg":
            for number in dict.fromkeys(each.tree for each in doubts):
                write(str(annotated[number]))
        else:
            write_rows(
                write,
                format_ if output is None else output.suffix[1:],
                _rows(doubts, places),
                values=lambda: {
                    "trees": len(places),
                    "doubts": [
                        _values(number, each, places, annotated) for number, each in enumerate(doubts, 1)
                    ],
                },
            )


def _cleaned(
    files: Sequence[str], reader: str, encoding: str | None, skip_bad: bool
) -> tuple[list[Tree], list[Place]]:
    """Return the trees with words as they are read, and without traces and function tags, with their places.

    Args:
        files: treebank files or folders.
        reader: name of the treebank reader.
        encoding: encoding of the files; None for the reader's default.
        skip_bad: whether to skip invalid trees instead of stopping.
    """
    from spectralnlp.trees import clean
    from spectralnlp_trees.cli.places import read_places
    from spectralnlp_trees.tregex.show import Place

    places = read_places(files, reader, encoding, model=None, tokenized=False, skip_bad=skip_bad)
    both = [(place, clean(place.tree)) for place in places]
    plain = [Place(place.file, place.number, tree) for place, tree in both if tree is not None]
    return [place.tree for place, tree in both if tree is not None], plain


def _row(number: int, doubt: Doubt, places: Sequence[Place]) -> dict[str, Any]:
    place = places[doubt.tree]
    return {"row": number, "file": place.file, "tree": place.number, **doubt.to_flat_dict()}


def _rows(doubts: Sequence[Doubt], places: Sequence[Place]) -> list[dict[str, Any]]:
    """Return a table row for each suspected error, with the sentence in the last column."""
    return [
        {**_row(number, each, places), "sentence": _marked(each, places)}
        for number, each in enumerate(doubts, 1)
    ]


def _marked(doubt: Doubt, places: Sequence[Place]) -> str:
    """Return the sentence of a doubtful node, with the words of the node in square brackets."""
    words, place = places[doubt.tree].tree.words(), doubt.change.place
    parts = [*words[: place.start], "[", *words[place.start : place.end], "]", *words[place.end :]]
    return " ".join(parts)


def _values(
    number: int, doubt: Doubt, places: Sequence[Place], annotated: Sequence[Tree]
) -> Mapping[str, Any]:
    """Return a doubtful node as values for JSON, with the tree before and after the proposed change.

    Args:
        number: rank of the doubtful node.
        doubt: the doubtful node, with other occurrences of its words.
        places: all trees with their files and numbers.
        annotated: all trees with functions and empty elements.
    """
    from spectralnlp.trees import with_annotation
    from spectralnlp_trees.auditing.mending import mended

    tree = annotated[doubt.tree]
    better = mended(places[doubt.tree].tree, doubt.change)
    others = [
        {
            "file": places[each.tree].file,
            "tree": places[each.tree].number,
            "first": each.start + 1,
            "last": each.end,
            "labels": list(each.labels),
        }
        for each in doubt.others
    ]
    return {
        **_row(number, doubt, places),
        "brackets": str(tree),
        "mended": None if better is None else str(with_annotation(better, tree)),
        "others": others,
    }
