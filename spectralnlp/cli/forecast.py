"""``spectralnlp forecast``: forecast a parser's F1 with more trees from the learning curve of a treebank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from spectralnlp.cli.formats import TABLE, TableFormat, check_format, write_rows
from spectralnlp.cli.options import FileEncoding, OutputFile, SkipBad, TreeReader
from spectralnlp.errors import ConfigError

if TYPE_CHECKING:
    from spectralnlp.estimator import Estimator


def forecast(
    inputs: Annotated[list[str], typer.Argument(metavar="TREEBANK...", help="Files, folders or globs.")],
    trees: Annotated[
        list[int] | None,
        typer.Option(
            "--trees",
            min=1,
            metavar="N",
            help="Size of the treebank to forecast; repeatable. Default: 1,000 more, and twice as many.",
        ),
    ] = None,
    estimator: Annotated[
        str, typer.Option("--estimator", metavar="NAME", help="What is trained; see 'plugins'.")
    ] = "lpcfg",
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of it. Default for lpcfg: preset=fast."),
    ] = None,
    dev: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Trees to score on; default: a fifth of the treebank in turn."),
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.0, metavar="N", help="Begin no run that would end later.")
    ] = 15.0,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Runs of each size, at most.")] = 5,
    format_: TableFormat = TABLE,
    output: OutputFile = None,
    reader: TreeReader = "auto",
    encoding: FileEncoding = None,
    skip_bad: SkipBad = False,
) -> None:
    """Forecast the F1 of a parser trained on more trees."""
    from spectralnlp.cli.console import announced_kernels, note, progress, results
    from spectralnlp.cli.skipping import Skipped
    from spectralnlp.runtime import rereadable
    from spectralnlp.tasks.forecasting import forecast as forecast_f1
    from spectralnlp.tasks.parsing import ParsingTask

    check_format(format_)
    learner = _learner(estimator, settings)
    skipped = Skipped(note) if skip_bad else None
    task = ParsingTask()
    reading: dict[str, Any] = {"reader": reader, "on_bad": skipped, "encoding": encoding}
    with announced_kernels(), progress("training") as step:

        def report(line: str) -> None:
            step()
            note(line)

        corpus = task.read(rereadable(inputs), **reading)
        held_out = task.read(rereadable(dev), **reading) if dev else None
        if skipped is not None:
            skipped.find(corpus, held_out or ())
        found = forecast_f1(
            learner,
            corpus,
            trees or (),
            held_out=held_out,
            seconds=60 * minutes,
            rounds=rounds,
            report=report,
        )
        for each in (corpus, held_out):
            for line in [] if each is None else each.remarks():
                note(line)
    with results(output) as write:
        write_rows(write, format_, found.to_json()["points"], table=found.to_table, values=found.to_json)


def _learner(name: str, settings: list[str] | None) -> Estimator[Any]:
    from spectralnlp import registry
    from spectralnlp.cli.train import parse_settings

    resolved = registry.estimators.resolve(name)
    kind: type[Estimator[Any]] = registry.estimators.get(resolved)
    if kind.task != "parsing":
        raise ConfigError(f"{name} makes no parsers", hint="forecasts are of parsers: use lpcfg or pcfg")
    given = parse_settings(settings or [])
    if not given and "fast" in kind.presets:
        given = {"preset": "fast"}
    return kind.from_settings(given)
