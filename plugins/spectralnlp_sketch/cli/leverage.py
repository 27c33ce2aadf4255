"""Command ``spectralnlp leverage``: write the leverage score of each row of files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spectralnlp_sketch.cli.options import Columns, Format, Lengths, RowFiles, rows_of


def leverage(
    files: RowFiles,
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
    form: Format = "auto",
    columns: Columns = 1024,
    ngrams: Lengths = "1",
) -> None:
    """Write the leverage score of each row of files, one per line; the files are read twice."""
    import warnings

    from spectralnlp.cli.console import note, progress, results
    from spectralnlp_sketch.leverage.estimator import LeverageScores

    corpus = rows_of(files, form, columns, ngrams)
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
