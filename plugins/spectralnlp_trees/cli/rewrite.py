"""Command ``spectralnlp rewrite``: change the trees of treebanks where a pattern matches."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from spectralnlp.cli.console import note, progress, results
from spectralnlp.cli.options import FileEncoding, OutputFile, SkipBad, TreeReader
from spectralnlp.errors import InputError
from spectralnlp_trees.cli.patterns import Macros, PatternHeadRules, PatternText, understood
from spectralnlp_trees.cli.places import read_places

# Number of trees that are rewritten at a time.
TREES_AT_A_TIME = 20_000


def rewrite(
    pattern: PatternText,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Treebank files or folders; none, or -, is standard input."),
    ] = None,
    operations: Annotated[
        list[str] | None,
        typer.Option("--do", metavar="OPERATION", help="Operation such as 'relabel np NP-X'; repeatable."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write the changed trees only, before (-) and after (+).")
    ] = False,
    macros: Macros = None,
    head_rules: PatternHeadRules = "english",
    reader: TreeReader = "auto",
    encoding: FileEncoding = None,
    skip_bad: SkipBad = False,
    output: OutputFile = None,
) -> None:
    """Rewrite trees where a pattern matches, with the operations of Tsurgeon."""
    from spectralnlp_trees.rewriting.reading import read_operations
    from spectralnlp_trees.rewriting.rewrite import rewrite as rewritten

    read = understood(pattern, macros)
    read_operations(operations or [], read.names)  # errors before the first tree is read
    places = read_places(
        files or [], reader, encoding, model=None, tokenized=False, skip_bad=skip_bad, clean=False
    )
    lines, n_trees, times = list[str](), 0, list[int]()
    with progress("rewriting"):
        while some := list(islice(places, TREES_AT_A_TIME)):
            trees = [each.tree for each in some]
            try:
                result = rewritten(trees, read.text, operations or [], head_rules=head_rules)
            except InputError as error:
                place = some[(error.sentence or 1) - 1]
                raise InputError(
                    error.what, path=place.file, sentence=place.number, hint=error.hint
                ) from error
            n_trees += len(some)
            times += filter(None, result.times)
            for place, tree in zip(some, result.trees, strict=True):
                if not dry_run:
                    lines.append(str(tree))
                elif tree is not place.tree:
                    lines += [f"{place.file}:{place.number}:", f"- {place.tree}", f"+ {tree}"]
    with results(output) as write:
        for line in lines:
            write(line)
    note(f"rewrites: {sum(times)}; changed trees: {len(times)} of {n_trees}")
