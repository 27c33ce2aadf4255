"""Command ``spectralnlp search``: find the matches of a pattern in treebanks, or in text that it parses.

Formats (``--format``):

- ``text``: file, number of the tree, the match with the words around it, and named nodes after tabs;
- ``table``, ``tsv``, ``csv``: a header line and a row per match, with a column for each named node;
- ``json``: one object per line: file, tree, label, tokens, named nodes, brackets;
- ``brackets``: one matched tree per line;
- ``html``: a page with a drawing of each tree that has matches, which are highlighted.

With ``--group-by``, a table of counts is written instead.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.console import progress, results
from spectralnlp.cli.formats import JSON, TABLE, Rows, check_format, write_rows
from spectralnlp.cli.kernels import announced_kernels
from spectralnlp.cli.options import FileEncoding, OutputFile, SkipBad, TextModel, TokenizedText, TreeReader
from spectralnlp.errors import ConfigError
from spectralnlp_trees.cli.patterns import Macros, PatternHeadRules, PatternText, understood
from spectralnlp_trees.cli.places import read_places

if TYPE_CHECKING:
    from spectralnlp_trees.tregex.matches import Match
    from spectralnlp_trees.tregex.show import Place, Style

OTHER_FORMATS = ("text", "brackets", "html")
# Number of trees that are searched at a time.
TREES_AT_A_TIME = 20_000


def search(
    pattern: PatternText,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Treebank files or folders; none, or -, is standard input."),
    ] = None,
    count: Annotated[bool, typer.Option("--count", help="Write only the number of matches.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Show each node once, not once for each way to match.")
    ] = False,
    group_by: Annotated[
        list[str] | None,
        typer.Option(
            "--group-by",
            metavar="KEY",
            help="Count the matches by label, category, function, head, tag, words or length of the node, "
            "or of a named one (NAME.head), or by file; a second one gives the columns.",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", metavar="PATTERN", help="With --group-by: a pattern for another column."),
    ] = None,
    per: Annotated[
        str,
        typer.Option(
            "--per",
            metavar="BASE",
            help="With --group-by: add rates per 1,000 words, trees or matches of a pattern.",
        ),
    ] = "",
    context: Annotated[
        int, typer.Option("--context", min=0, metavar="N", help="Number of words on either side of a match.")
    ] = 8,
    format_: Annotated[
        str,
        typer.Option("--format", metavar="NAME", help="text, brackets, html, table, tsv, csv or json."),
    ] = "text",
    macros: Macros = None,
    model: TextModel = None,
    tokenized: TokenizedText = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Remove traces, function tags and empty roots first.")
    ] = False,
    head_rules: PatternHeadRules = "english",
    reader: TreeReader = "auto",
    encoding: FileEncoding = None,
    skip_bad: SkipBad = False,
    output: OutputFile = None,
) -> None:
    """Find the matches of a pattern in trees."""
    from spectralnlp_trees.tregex.counting import Key, Tally
    from spectralnlp_trees.tregex.show import Style

    check_format(format_, *OTHER_FORMATS)
    read = understood(pattern, macros)
    if (also or per) and not group_by:
        raise ConfigError("--also and --per are for tables of counts", hint="add --group-by KEY")
    if count and group_by:
        raise ConfigError("--count is one number, --group-by a table", hint="leave out one of them")
    patterns = [read.text, *(understood(each, macros).text for each in also or [])]
    places = read_places(
        files or [], reader, encoding, model=model, tokenized=tokenized, skip_bad=skip_bad, clean=clean
    )
    if clean:
        places = _cleaned(places)
    style = Style(context, output is None and sys.stdout.isatty() and "NO_COLOR" not in os.environ)
    keys = [Key.read(each, patterns) for each in group_by or []]
    tally = Tally(patterns, keys, per, once, head_rules) if keys else None
    total = 0
    with (
        announced_kernels(here=model is not None),
        results(output) as write,
        progress("searching", silent=output is None and sys.stdout.isatty()),
    ):
        show, finish = _writer(write, "text" if count or tally else format_, read.text, read.names, style)
        for some in _batches(places):
            if tally:
                tally.add(_index(some), [place.file for place in some])
                continue
            if count:
                total += _index(some).count(read.text, once=once, head_rules=head_rules)
                continue
            all_matches = _index(some).search(read.text, once=once, head_rules=head_rules)
            for tree, matches in groupby(all_matches, key=attrgetter("tree")):
                show(list(matches), some[tree])
        finish()
        if tally:
            write_rows(write, TABLE if format_ in OTHER_FORMATS else format_, tally.rows())
        elif count:
            write(str(total))


def _writer(
    write: Callable[[str], None], format_: str, pattern: str, names: Sequence[str], style: Style
) -> tuple[Callable[[Sequence[Match], Place], None], Callable[[], None]]:
    """Return two functions: one writes the matches in a tree, and one ends the output.

    Args:
        write: function that writes text.
        format_: output format.
        pattern: the pattern, for the title of a page.
        names: names in the pattern.
        style: options of the text formats.
    """
    from spectralnlp_trees.tregex.page import as_section, page_ends
    from spectralnlp_trees.tregex.show import LINES, as_row, as_values, column_names

    if format_ == "html":
        before, after = page_ends(pattern)
        write(before)
        return lambda matches, place: write(as_section(matches, place)), lambda: write(after)
    if format_ in LINES:
        line = LINES[format_]

        def as_lines(matches: Sequence[Match], place: Place) -> None:
            for match in matches:
                write(line(match, place, style))

        return as_lines, _nothing
    rows = Rows(write, format_, None if format_ == JSON else column_names(names))

    def as_rows(matches: Sequence[Match], place: Place) -> None:
        for match in matches:
            rows(as_row(match, place, names, style), as_values(match, place))

    return as_rows, rows.finish


def _nothing() -> None:
    pass


def _index(places: Sequence[Place]) -> Any:
    from spectralnlp_trees.tregex.matches import TreeIndex

    return TreeIndex.of(place.tree for place in places)


def _batches(places: Iterator[Place]) -> Iterator[list[Place]]:
    """Yield the trees in batches, so that each batch is indexed at once."""
    while some := list(islice(places, TREES_AT_A_TIME)):
        yield some


def _cleaned(places: Iterator[Place]) -> Iterator[Place]:
    """Yield the trees without traces and function tags, with their numbers; skip trees without words."""
    from spectralnlp.trees import clean
    from spectralnlp_trees.tregex.show import Place

    for place in places:
        tree = clean(place.tree)
        if tree is not None:
            yield Place(place.file, place.number, tree)
