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
from spectralnlp.cli.console import announced_kernels, progress, say
from spectralnlp.cli.engines import HERE, Where, engine_options
from spectralnlp.cli.options import LabelColumn, TextColumn


@engine_options("engine", "scheduler", "jobs")
def forget(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model with kept moments.")],
    documents: Annotated[
        list[str],
        typer.Argument(metavar="DOCUMENT...", help="Files to forget, or files of lines to forget."),
    ],
    output: ChangedModel = None,
    text_column: TextColumn = None,
    label_column: LabelColumn = None,
    where: Where = HERE,
) -> None:
    """Remove data from a trained model; the result equals a model trained without these data."""
    from spectralnlp.changes import forget as forget_documents

    folder, changes, target = changed_folder(model, output)
    if changes is not None:
        refuse_options(model, {"--text-column": text_column, "--label-column": label_column})
        changes.forget(folder, documents, target, say)
        return
    kept = load_kept(model, "forget")
    with where.running(), announced_kernels(), progress("forgetting"):
        corpus = read_documents(kept, documents, (text_column, label_column))
        change = forget_documents(kept, corpus, report=say)
    save_change(change, target, tagger_of(folder))
