"""Command ``spectralnlp leverage``: write the leverage score of each row of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def leverage(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Files, folders or patterns of rows.")
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write the scores to.")
    ] = None,
    method: Annotated[
        str, typer.Option(metavar="NAME", help="auto, gram, qr, svd, gaussian, countsketch, osnap, srht.")
    ] = "auto",
    size: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Number of rows of the sketch, if the method uses one."),
    ] = None,
    truncate: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Treat singular values up to this share of the largest as zero."),
    ] = 0.0,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the sketch.")] = 0,
    form: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="npy, npz, parquet, csv, numbers, tsv (text in the last field), text.",
        ),
    ] = "auto",
    columns: Annotated[
        int, typer.Option(min=1, metavar="N", help="Number of columns that n-grams of text are hashed to.")
    ] = 1024,
    ngrams: Annotated[str, typer.Option(metavar="N-N", help="Shortest and longest n-gram of words.")] = "1",
) -> None:
    """Write the leverage score of each row of files, one per line; the files are read twice."""
    import warnings

    from spectralnlp.cli.console import note, progress, results
    from spectralnlp.runtime import expand_inputs, rereadable
    from spectralnlp_sketch.cli.options import read_ngrams
    from spectralnlp_sketch.leverage.estimator import LeverageScores
    from spectralnlp_sketch.row_files import FileRows, RowFormat

    corpus = FileRows(expand_inputs(rereadable(files)), RowFormat(form, columns, read_ngrams(ngrams)))
    values = {"sketch_size": size, "method": method, "truncate": truncate, "random_state": seed}
    scorer = LeverageScores.from_settings({}, values)
    with progress("reading"), warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        scorer.fit(corpus)
    for warning in found:
        note(f"warning: {warning.message}")
    for line in corpus.remarks():
        note(line)
    note(f"{scorer.n_rows_:,} rows of {corpus.n_columns:,} columns, rank {scorer.rank_}, {scorer.method_}")
    with results(output) as write:
        for scores in scorer.stream_scores(corpus):
            write("\n".join(f"{score:.9g}" for score in scores))
