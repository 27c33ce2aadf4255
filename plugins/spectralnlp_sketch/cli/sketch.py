"""Command ``spectralnlp sketch``: reduce files of any length to a small matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spectralnlp_sketch.cli.options import Columns, Format, Lengths, RowFiles, rows_of


def sketch(
    files: RowFiles,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Folder to write the sketch to.")
    ],
    name: Annotated[
        str, typer.Option("--sketch", metavar="NAME", help="Registered name of the sketch.")
    ] = "frequent-directions",
    size: Annotated[int, typer.Option(min=1, metavar="N", help="Number of rows of the sketch.")] = 256,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set another setting of the sketch."),
    ] = None,
    form: Format = "auto",
    columns: Columns = 2**16,
    ngrams: Lengths = "1-2",
    keep_moments: Annotated[
        bool,
        typer.Option("--keep-moments", help="Allow files to be added to a linear sketch and removed later."),
    ] = False,
    checkpoint_rows: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of rows between checkpoints.")
    ] = 2**19,
    restart: Annotated[bool, typer.Option("--restart", help="Discard an unfinished run.")] = False,
) -> None:
    """Sketch the rows of files: text, TSV, matrices. An interrupted run resumes where it stopped."""
    from spectralnlp import registry
    from spectralnlp.cli.console import fields, note, progress
    from spectralnlp.cli.train import parse_settings
    from spectralnlp.hyperparameters import read_values
    from spectralnlp_sketch.files import shape_of, sketch_files

    full_name = registry.sketches.resolve(name)
    kind = registry.sketches.get(full_name)
    estimator = kind(**{"sketch_size": size, **read_values(kind, parse_settings(settings or []))})
    corpus = rows_of(files, form, columns, ngrams, by_content=keep_moments)
    with progress("sketching"):
        done = sketch_files(
            estimator,
            corpus,
            output,
            name=full_name,
            checkpoint_rows=checkpoint_rows,
            restart=restart,
            report=note,
        )
    for line in corpus.remarks():
        note(line)
    bound = getattr(done, "bound_", None)
    print(
        fields(
            {
                "sketch": registry.sketches.shown(full_name),
                "method": getattr(done, "method_", "–"),
                "rows": f"{done.n_rows_:,}",
                "shape": " × ".join(map(str, shape_of(done))),
                "bound": "–" if bound is None else f"{bound:.6g}",
                "written to": output,
            }
        )
    )
