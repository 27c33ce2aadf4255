"""``spectralnlp forget``: remove documents from a trained model."""

from __future__ import annotations

from typing import Annotated

import typer

from spectralnlp.cli.changing import (
    ChangedModel,
    changed_folder,
    load_kept,
    read_documents,
    refuse_options,
    save_change,
    tagger_of,
)
from spectralnlp.cli.console import say
from spectralnlp.cli.options import HERE, Work, command_options


@command_options("text_column label_column engine scheduler jobs")
def forget(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model with kept moments.")],
    documents: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT...", help="Files to forget, or files of lines to forget."),
    ],
    output: ChangedModel = None,
    work: Work = HERE,
) -> None:
    """Remove data from a trained model; the result equals a model trained without these data."""
    from spectralnlp.changes import forget as forget_documents

    folder, changes, target = changed_folder(model, output)
    if changes is not None:
        refuse_options(model, {"--text-column": work.text_column, "--label-column": work.label_column})
        changes.forget(folder, documents, target, say)
        return
    kept = load_kept(model, "forget")
    with work.running("forgetting"):
        corpus = read_documents(kept, documents, (work.text_column, work.label_column))
        change = forget_documents(kept, corpus, report=say)
    save_change(change, target, tagger_of(folder))
