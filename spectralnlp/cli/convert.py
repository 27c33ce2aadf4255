"""``spectralnlp convert``: convert treebanks to brackets and dependencies, and annotated data for spaCy.

Formats (``--to``):

- ``conllu``: CoNLL-U with basic Universal Dependencies, for English trees with Penn Treebank labels;
- ``stanford-conllu``: the same with basic Stanford Dependencies;
- ``heads-conllu``: CoNLL-U with unlabelled heads, for any language, by ``--head-rules``;
- ``brackets``: a tree in brackets per line, with functions and empty elements unless ``--clean`` is given;
- ``spacy``: the input of `spacy train`; this needs the extra ``spacy``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spectralnlp.cli.console import note, progress, results
from spectralnlp.cli.options import FileEncoding, SkipBad, Skipped
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.trees import Tree

BRACKETS = "brackets"
SCHEMES = {"conllu": "ud", "stanford-conllu": "stanford", "heads-conllu": "heads"}


def convert(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Files, folders or globs; .gz too.")],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to write; stdout by default, except for spacy."
        ),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="NAME", help="spacy, brackets, conllu, stanford-conllu or heads-conllu."
        ),
    ] = "spacy",
    reader: Annotated[
        str, typer.Option(metavar="NAME", help="How to read it, e.g. ptb; conllu, columns.")
    ] = "auto",
    encoding: FileEncoding = None,
    head_rules: Annotated[
        str,
        typer.Option(
            "--head-rules",
            metavar="NAME",
            help="Of heads-conllu: english or neutral.",
        ),
    ] = "neutral",
    clean: Annotated[
        bool,
        typer.Option("--clean", help="Of brackets: without traces, function tags and empty roots."),
    ] = False,
    kind: Annotated[
        str,
        typer.Option(metavar="KIND", help="To spacy: trees, tags or texts; auto looks at the first file."),
    ] = "auto",
    column: Annotated[
        int | None, typer.Option(min=2, metavar="N", help="To spacy: of columns, the one with the tags.")
    ] = None,
    field: Annotated[
        str | None, typer.Option(metavar="NAME", help="To spacy: where tags go: tag, pos, ents or spans.")
    ] = None,
    lang: Annotated[str, typer.Option(metavar="CODE", help="To spacy: language of the documents.")] = "en",
    sentences: Annotated[
        int, typer.Option(min=1, max=10**9, metavar="N", help="To spacy: sentences a document.")
    ] = 1,
    skip_bad: SkipBad = False,
) -> None:
    """Convert treebanks to brackets or dependencies, and data for `spacy train`."""
    if clean and to != BRACKETS:
        raise ConfigError("--clean is for --to brackets", hint="leave it out")
    if to == BRACKETS:
        _write_brackets(inputs, output, reader, encoding, clean, skip_bad)
        return
    if to in SCHEMES:
        _write_dependencies(inputs, output, SCHEMES[to], reader, encoding, head_rules, skip_bad)
        return
    if to != "spacy":
        raise ConfigError(f"no format {to!r}", hint=f"choose from spacy, {BRACKETS}, {', '.join(SCHEMES)}")
    from spectralnlp import registry

    if output is None:
        raise ConfigError("--to spacy needs a file to write", hint="add -o FILE")
    registry.commands.get("convert")(
        inputs,
        output=output,
        kind=kind,
        reader=reader,
        column=column,
        field=field,
        lang=lang,
        sentences=sentences,
        skip_bad=skip_bad,
    )


def _write_brackets(
    inputs: list[str], output: Path | None, reader: str, encoding: str | None, clean: bool, skip_bad: bool
) -> None:
    """Write all trees in brackets, one per line."""
    from spectralnlp.trees import clean as cleaned

    report = Skipped(note) if skip_bad else None
    with results(output) as write, progress("converting", silent=output is None) as step:
        for _, _, tree in _trees(inputs, reader, encoding, report, clean=clean):
            shown = cleaned(tree) if clean else tree
            if shown is not None:
                write(str(shown))
            step()


def _write_dependencies(
    inputs: list[str],
    output: Path | None,
    scheme: str,
    reader: str,
    encoding: str | None,
    head_rules: str,
    skip_bad: bool,
) -> None:
    """Write the dependencies of all trees as CoNLL-U, sentence by sentence."""
    from spectralnlp import registry
    from spectralnlp.errors import InputError
    from spectralnlp.runtime import report_bad
    from spectralnlp.trees import strip_traces

    report = Skipped(note) if skip_bad else None
    tools = registry.tree_tools.get("dependencies")
    with results(output) as write, progress("converting", silent=output is None) as step:
        for path, number, read in _trees(inputs, reader, encoding, report):
            tree = strip_traces(read)
            if tree is None:
                continue
            if scheme != "heads" and (foreign := tools.foreign_tags(tree)):
                what = (
                    f"parts of speech of tree {number} are not the Penn treebank's: {', '.join(foreign[:3])}"
                )
                hint = "--skip-bad leaves it out; --to heads-conllu is for other languages"
                report_bad(InputError(what, path=path, hint=hint), report)
                continue
            found = tools.to_dependencies(tree, scheme, head_rules=head_rules)
            comments = {
                "sent_id": f"{Path(path).name.partition('.')[0]}-{number}",
                "text": " ".join(found.words),
            }
            write(found.to_conllu(comments))
            step()


def _trees(
    inputs: list[str], reader: str, encoding: str | None, report: Skipped | None, *, clean: bool = True
) -> Iterator[tuple[str, int, Tree]]:
    """Yield (file, index in the file from 1, tree) for each tree; then note what the reader has changed.

    Args:
        inputs, reader, encoding, report: see `convert`.
        clean: whether the caller cleans the trees, so that functions in XML are not read.
    """
    from spectralnlp.runtime import expand_inputs, rereadable
    from spectralnlp.trees import read_trees
    from spectralnlp.trees.readers.recognition import changes_of

    files: list[str | Path] = []
    for name, path in zip(inputs, rereadable(inputs), strict=True):
        for found in expand_inputs([path]):
            files.append(found)
            shown = "stdin" if name == "-" else str(found)
            trees = read_trees(found, reader, on_bad=report, encoding=encoding, functions=not clean)
            for number, tree in enumerate(trees, 1):
                yield shown, number, tree
    if report is not None:
        report.say_how_many()
    for line in changes_of(files, reader, encoding, clean=clean):
        note(line)
