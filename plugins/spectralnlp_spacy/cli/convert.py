"""``spectralnlp convert``: annotated data to spaCy's binary format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def convert(
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Files, folders or globs; .gz too.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The .spacy file to make.")],
    reader: Annotated[str, typer.Option(metavar="NAME", help="How to read trees, e.g. ptb.")] = "auto",
    lang: Annotated[str, typer.Option(metavar="CODE", help="Language of the documents.")] = "en",
    sentences: Annotated[int, typer.Option(min=1, metavar="N", help="Sentences a document.")] = 1,
    skip_bad: Annotated[
        bool, typer.Option("--skip-bad", help="Leave out, count and name what cannot be read.")
    ] = False,
) -> None:
    """Convert treebanks for `spacy train`."""
    import spacy

    from spectralnlp import registry
    from spectralnlp.cli.console import note, progress
    from spectralnlp.cli.skipping import Skipped
    from spectralnlp_spacy.documents import docs_of_trees, write_docs

    skipped = Skipped(note) if skip_bad else None
    trees = registry.tasks.get("parsing")().read(inputs, reader=reader, on_bad=skipped)
    with progress("converting"):
        n_docs = write_docs(docs_of_trees(trees, spacy.blank(lang).vocab, sentences=sentences), output)
    print(f"{output}: {n_docs:,} documents")
