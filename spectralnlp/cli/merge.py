"""``spectralnlp merge``: merge models that were trained separately into one."""

from __future__ import annotations

from typing import Annotated

import typer

from spectralnlp.cli.changing import folder_changes, load_kept, save_change
from spectralnlp.cli.console import say
from spectralnlp.cli.options import HERE, NewFolder, Overwrite


def merge(
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Two or more, with kept moments.")],
    output: NewFolder,
    overwrite: Overwrite = False,
    allow_shared: Annotated[
        bool, typer.Option("--allow-shared", help="Count a document that is in several models once for each.")
    ] = False,
) -> None:
    """Merge models; the result equals a model trained on the data of all of them."""
    from spectralnlp.changes import merge as merge_models
    from spectralnlp.errors import ConfigError
    from spectralnlp.storage import check_writable

    if len(models) < 2:
        raise ConfigError("one model is nothing to merge", hint="give two or more")
    check_writable(output, overwrite=overwrite)
    found = [folder_changes(model) for model in models]
    changes = found[0][1]
    if changes is not None:
        changes.merge([folder for folder, _ in found], output, say)
        return
    kept = [load_kept(model, "be merged") for model in models]
    with HERE.running("merging"):
        change = merge_models(kept, allow_shared=allow_shared, report=say)
    save_change(change, output)
