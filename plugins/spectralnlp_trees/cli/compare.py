"""Command ``spectralnlp compare``: count the errors of one or two parsers by type, label, length and group.

Each parser is given by its trees, a file or folder in the order of the gold trees, or as a model that parses
the words of the gold trees. ``--html`` writes a page with the worst sentences side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import progress, results
from spectralnlp.cli.formats import TABLE, TableFormat, check_format, write_rows
from spectralnlp.cli.options import FileEncoding, OutputFile
from spectralnlp.errors import ConfigError, InputError
from spectralnlp_trees.cli.places import is_model, parsed_as, read_places

if TYPE_CHECKING:
    from spectralnlp.trees import Tree
    from spectralnlp_trees.comparison.analysis import Analysis


def compare(
    gold: Annotated[str, typer.Argument(metavar="GOLD", help="Trees of the treebank: a file or a folder.")],
    a: Annotated[
        str,
        typer.Argument(metavar="A", help="A parser's trees, in the order of GOLD; or a model that parses."),
    ],
    b: Annotated[
        str | None, typer.Argument(metavar="[B]", help="Trees of a second parser, or a model.")
    ] = None,
    format_: TableFormat = TABLE,
    map_: Annotated[
        str | None,
        typer.Option(
            "--map",
            metavar="FILE",
            help="Table of labels and tags to rename in all trees first, as for `train`.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write an HTML page with the worst sentences."),
    ] = None,
    worst: Annotated[
        int, typer.Option("--worst", min=0, metavar="N", help="Number of sentences on the page.")
    ] = 20,
    group_by: Annotated[
        str,
        typer.Option(
            "--group-by",
            metavar="HOW",
            help="Group sentences by gold file: file, folder, prefix (of the file's name) or none; by "
            "default by folder if there are several, otherwise by prefix.",
        ),
    ] = "auto",
    reader: Annotated[
        str, typer.Option("--reader", metavar="NAME", help="Reader of the gold trees; by default detected.")
    ] = "auto",
    encoding: FileEncoding = None,
    output: OutputFile = None,
) -> None:
    """Compare a parser's trees with gold trees, and count errors by type, label, length and group.

    Traces, function tags and nodes that repeat the label of their only child are removed first, as in
    `evaluate`.
    """
    from spectralnlp_trees.comparison.page import as_page
    from spectralnlp_trees.comparison.text import as_rows, as_text

    check_format(format_)
    if html is not None and html.is_dir():
        raise ConfigError("cannot write the page: this is a folder", path=html)
    names = _short_names([a] if b is None else [a, b])
    with progress("comparing"):
        places = list(read_places([gold], reader, encoding, model=None, tokenized=False))
        if not places:
            raise InputError("no trees in this file", path=gold)
        groups = _groups([place.file for place in places], group_by)
        trees = [place.tree for place in places]
        prepare = _preparation(map_)
        analyses = [_analysis(trees, path, groups, prepare) for path in ([a] if b is None else [a, b])]
    if html is not None:
        title = f"{' and '.join(names)} against {Path(gold).name}"
        with results(html) as write:
            write(as_page(analyses, names, title=title, worst=worst).rstrip("\n"))
    with results(output) as write:
        write_rows(
            write,
            format_,
            as_rows(analyses, names),
            table=lambda: as_text(analyses, names),
            values=lambda: _values(analyses, names),
        )


def _preparation(table: str | None) -> Callable[[Tree], Tree]:
    """Return the function that cleans each tree, and renames its labels, before the comparison.

    Args:
        table: file of labels and tags to rename; None to rename none.
    """
    from spectralnlp import trees
    from spectralnlp.trees.renaming import Renaming, read_renaming

    if table is None:
        return lambda tree: trees.clean(tree) or tree
    renaming = Renaming(read_renaming(table))

    def renamed(tree: Tree) -> Tree:
        cleaned = trees.clean(tree)
        return tree if cleaned is None else renaming.rename(cleaned)

    return renamed


def _analysis(
    gold: Sequence[Tree], path: str, groups: Sequence[str], prepare: Callable[[Tree], Tree]
) -> Analysis:
    from spectralnlp.cli.score import predictions
    from spectralnlp_trees.comparison.analysis import analyse

    trees = parsed_as(gold, path) if is_model(path) else list(predictions(path))
    if len(trees) != len(gold):
        raise InputError(
            f"{len(trees)} trees, but there are {len(gold)} gold trees",
            path=path,
            hint="give one tree for each gold tree, in the same order",
        )
    trees = [None if tree is None else prepare(tree) for tree in trees]
    return analyse(map(prepare, gold), trees, groups=groups)


def _short_names(paths: Sequence[str]) -> list[str]:
    """Return short names for parsers from their paths: the file names without extensions.

    If two file names are equal, the folder is prefixed; if that does not help, the names are A and B.
    """
    stems = [Path(path).stem for path in paths]
    in_folders = [f"{Path(path).parent.name}/{stem}" for path, stem in zip(paths, stems, strict=True)]
    for names in (stems, in_folders):
        if len({*names}) == len(names):
            return names
    return ["A", "B"]


def _groups(files: Sequence[str], how: str) -> list[str]:
    """Return the name of each sentence's group, made from the path of its file.

    Args:
        files: file of each sentence.
        how: what names the group: ``file``; ``folder``; ``prefix``, the first part of the file's name that
            differs between files; ``auto``, the folder if there are several, else the prefix; or ``none``.

    Raises:
        ConfigError: ``how`` is none of these.
    """
    known = ("auto", "none", "file", "folder", "prefix")
    if how not in known:
        raise ConfigError(f"no grouping {how!r}", hint=f"choose from {', '.join(known)}")
    different = [Path(file) for file in dict.fromkeys(files)]
    if how == "auto":
        many_folders = len({file.parent for file in different}) > 1
        how = "folder" if many_folders else "prefix" if len(different) > 1 else "none"
    if how == "none":
        names = dict.fromkeys(files, "")
    elif how == "prefix":
        names = _prefixes(different)
    else:
        names = {str(file): file.stem if how == "file" else file.parent.name for file in different}
    return [names[file] for file in files]


def _prefixes(files: Sequence[Path]) -> dict[str, str]:
    """Return, by file, the first part of its name that differs: ``news`` for ``GUM_news_one``."""
    parts = {str(file): file.stem.replace("-", "_").split("_") for file in files}
    shared = 0
    while len({tuple(each[: shared + 1]) for each in parts.values()}) == 1 and len(parts) > 1:
        shared += 1
    return {file: each[min(shared, len(each) - 1)] for file, each in parts.items()}


def _values(analyses: Sequence[Analysis], names: Sequence[str]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "parsers": {name: each.to_json() for name, each in zip(names, analyses, strict=True)}
    }
    if len(analyses) > 1:
        values["significance"] = analyses[0].compare(analyses[1]).to_flat_dict()
    return values
