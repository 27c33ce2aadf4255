"""``spectralnlp evaluate``: score a model on gold data, alone or in comparison with another model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from spectralnlp.cli.formats import TABLE, TableFormat, check_format, write_rows
from spectralnlp.cli.options import HERE, ModelName, Work, accepted, command_options
from spectralnlp.errors import ConfigError


@command_options(
    "text_column label_column encoding renamings decoder tagger prm predicted_tags raw annotations "
    "skip_bad jobs"
)
def evaluate(
    model: ModelName,
    gold: Annotated[list[str], typer.Argument(metavar="GOLD", help="Files, folders or globs.")],
    against: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Another model: test whether the two differ.")
    ] = None,
    format_: TableFormat = TABLE,
    reader: Annotated[str, typer.Option(metavar="NAME", help="How to read GOLD.")] = "auto",
    work: Work = HERE,
    decoder: Annotated[
        str | None, typer.Option(metavar="NAME", help="Parsing: how to choose the tree.")
    ] = None,
    tagger: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL|none",
            help="Parsing: a tagger of the same tags to listen to; default the model's own.",
        ),
    ] = None,
    prm: Annotated[
        Path | None,
        typer.Option("--prm", metavar="FILE", help="Parsing: EVALB parameters; default COLLINS.prm's."),
    ] = None,
    predicted_tags: Annotated[
        bool, typer.Option("--predicted-tags", help="Parsing: plain EVALB, with the predicted tags.")
    ] = False,
    raw: Annotated[
        bool,
        typer.Option(
            "--raw", help="Parsing: from raw text, whose sentences and tokens the model has to find."
        ),
    ] = False,
    annotations: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Parsing: CoNLL-U of GOLD, as evidence (see train)."),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="Sentences done at a time.")] = 1,
) -> None:
    """Evaluate a model on gold data."""
    from spectralnlp import load, registry
    from spectralnlp.cli.console import note, progress
    from spectralnlp.cli.models import NO_TAGGER, without_tagger
    from spectralnlp.cli.score import evalb_parameters
    from spectralnlp.runtime import rereadable

    check_format(format_)
    names = [model] if against is None else [model, against]
    parameters = None if prm is None else evalb_parameters(prm)
    with progress("loading"):
        models = [load(name) for name in names]
    if tagger == NO_TAGGER:
        models = [without_tagger(each, name) for each, name in zip(models, names, strict=True)]
        tagger = None
    if models[-1].task != models[0].task:
        raise ConfigError(f"{model} and {against} do different things", hint="compare models of one task")
    task = registry.tasks.get(models[0].task)()
    reading = work.reading(task, "read_gold")
    how = accepted(
        task,
        "evaluate",
        {
            "decoder": ("--decoder", decoder),
            "tagger": ("--tagger", None if tagger is None else load(tagger)),
            "parameters": ("--prm", parameters),
            "predicted_tags": ("--predicted-tags", predicted_tags),
            "raw": ("--raw", raw),
            "annotations": ("--annotations", annotations),
        },
    )
    corpus = task.read_gold(rereadable(gold), reader=reader, **reading)
    if work.skipped is not None:
        work.skipped.find(corpus)
    remarks = corpus.remarks()  # raises an error before parsing if the table of --map renames nothing
    work = replace(work, jobs=jobs)
    reports = [
        work.evaluated(task, each, corpus, f"evaluating {name}", **how)
        for name, each in zip(names, models, strict=True)
    ]
    for line in [*remarks, *task.remarks_on_gold(models[0], corpus)]:
        note(line)
    comparison = task.compare(*reports) if against is not None else None
    flat = {**reports[0].to_flat_dict(), **(comparison.to_flat_dict() if comparison is not None else {})}

    def tables() -> str:
        if comparison is None:
            return str(reports[0].to_table())
        both = [f"{name}\n{report.to_table()}\n" for name, report in zip(names, reports, strict=True)]
        return "\n".join([*both, str(comparison)])

    write_rows(print, format_, [flat], table=tables)
