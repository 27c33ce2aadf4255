"""``spectralnlp update``: add documents to a trained model."""

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
from spectralnlp.errors import ConfigError


@command_options("weight text_column label_column engine scheduler jobs")
def update(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A model with kept moments.")],
    inputs: Annotated[list[str], typer.Argument(metavar="MORE...", help="Files, folders or globs to add.")],
    output: ChangedModel = None,
    add_known: Annotated[
        bool, typer.Option("--add-known", help="Add documents that are in the model once more.")
    ] = False,
    skip_known: Annotated[
        bool, typer.Option("--skip-known", help="Leave out documents that are in the model, and count them.")
    ] = False,
    from_scratch: Annotated[
        bool,
        typer.Option("--from-scratch", help="Train on all data anew instead of resuming from the model."),
    ] = False,
    work: Work = HERE,
) -> None:
    """Add data to a trained model; the result equals a model trained on the old and the new data."""
    from spectralnlp.changes import update as update_model

    folder, changes, target = changed_folder(model, output)
    if changes is not None:
        if skip_known:
            what = f"{model} does not know what it was made of: --skip-known means nothing to it"
            raise ConfigError(what, hint="give files that it has not seen")
        columns = {"--text-column": work.text_column, "--label-column": work.label_column}
        refuse_options(model, {"--weight": work.weight, **columns})
        changes.update(folder, inputs, target, say)
        return
    kept = load_kept(model, "be updated")
    with work.running("updating"):
        corpus = read_documents(kept, inputs, (work.text_column, work.label_column), work.weight)
        change = update_model(
            kept, corpus, add_known=add_known, skip_known=skip_known, from_scratch=from_scratch, report=say
        )
    save_change(change, target, tagger_of(folder))
    if skip_known:
        n, unit = change.left_out, change.kept.unit
        say(f"left out {n:,} {unit}{'' if n == 1 else 's'} that {'was' if n == 1 else 'were'} there already")
